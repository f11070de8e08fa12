// How the search ranks what it finds. Sphinx asks this object, and puts the highest score first.
var Scorer = (() => {
  const API = "book/api";
  // Pages that list everything, and so hold every word.
  const LISTS = ["book/ledger", "book/errata", "book/map", "book/bibliography", "notebooks/claims/inconsistencies"];
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const asked = (new URLSearchParams(window.location.search).get("q") ?? "").trim();
  const query = words(asked);

  // Which share of the words asked for stands in a title?
  const share = (title) => {
    const found = new Set(words(title));
    return query.filter((word) => found.has(word)).length / Math.max(query.length, 1);
  };

  return {
    score: (found) => {
      const [docname, title, anchor, description, score] = found;
      // An object of the library has a description, a page has none. It comes first if it is asked for by its
      // name, and the name is no plain word.
      if (description !== null && /[_.]/.test(asked) && title.endsWith(asked)) return score + 100;
      if (description !== null || docname === API || docname.startsWith(`${API}/`)) return score - 1000;
      if (LISTS.includes(docname) || docname.startsWith("book/class/hand-out")) return score - 3;
      // An entry of the glossary: first if it is the whole query, and shown by its name; else among the pages.
      if (docname === "book/glossary" && anchor) {
        if (score < 100) return score / 10;
        found[1] = `${title}: ${asked}`;
        return score;
      }
      // A page that is about the words comes before one that has a section about them.
      return score + 30 * share(title.split(" > ")[0]);
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: {0: 15, 1: 5, 2: -5},
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
