// The ledger can be searched, filtered and sorted, and its groups folded. The address holds the choices, as in
// ledger.html#ledger?q="at+most"&verdict=contradicted&whose=paper&sort=-claim, so they can be sent, survive a
// reload, and follow the back button. Without this script the page shows all rows in their groups.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.ledger-table");
  if (!table) return;
  const ADDRESS = "#ledger?";
  const COLUMNS = ["verdict", "claim", "found", "rule", "run"];
  // Whose claims: the word in the address, the label, and the classes of the rows.
  const WHOSE = [
    ["", "All", ["paper", "reading", "ours"]],
    ["paper", "The paper’s", ["paper", "reading"]],
    ["words", "its words", ["paper"]],
    ["readings", "our readings", ["reading"]],
    ["ours", "Ours", ["ours"]],
  ];
  const plain = (text) => text.toLowerCase().replace(/[“”]/g, '"').replace(/[‘’]/g, "'").replace(/\s+/g, " ").trim();
  const make = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const text = (row, column) => row.cells[column].textContent.trim();

  const groups = [...table.tBodies].map((body) => {
    const head = body.querySelector(".ledger-head");
    const rows = [...body.rows].filter((row) => row !== head);
    return { body, head, rows, title: head?.querySelector("h2") };
  });
  const rows = groups.flatMap((group) => group.rows);
  const facts = new Map(
    rows.map((row) => [
      row,
      {
        words: plain(row.textContent),
        verdict: text(row, 0).replace(/^\S+\s+/, "").replaceAll(" ", "-"),
        says: row.querySelector("details"),
        briefly: plain([...row.cells].map((cell) => cell.firstElementChild?.textContent ?? cell.textContent).join(" ")),
      },
    ]),
  );

  // A row must contain all words, in any order; a phrase in quotation marks counts as one word.
  const terms = (query) =>
    [...plain(query).matchAll(/"([^"]*)"?|([^\s"]+)/g)].map((found) => (found[1] ?? found[2]).trim()).filter(Boolean);

  // Read the choices from the address, and write them back.
  let state;
  const read = () => {
    const chosen = new URLSearchParams(location.hash.startsWith(ADDRESS) ? location.hash.slice(ADDRESS.length) : "");
    const known = (key, values) => (values.includes(chosen.get(key)) ? chosen.get(key) : "");
    const verdicts = new Set([...facts.values()].map((fact) => fact.verdict));
    state = {
      q: chosen.get("q") ?? "",
      verdict: new Set((chosen.get("verdict") ?? "").split(",").filter((each) => verdicts.has(each))),
      whose: known("whose", WHOSE.map(([name]) => name)),
      sort: known("sort", COLUMNS.flatMap((name) => [name, `-${name}`])),
    };
  };
  const address = () => {
    const { q, verdict, whose, sort } = state;
    const chosen = Object.entries({ q: q.trim(), verdict: [...verdict].join(","), whose, sort }).filter(([, value]) => value);
    return chosen.length ? ADDRESS + new URLSearchParams(chosen).toString().replaceAll("%2C", ",") : "";
  };
  // Typing changes the last entry of the history; any other choice makes a new one.
  let typing = false;
  const write = (typed = false) => {
    const url = address() || location.pathname + location.search;
    history[typed && typing ? "replaceState" : "pushState"](null, "", url);
    typing = typed;
    unfolded.clear();
    show();
  };

  // Numbers by size, all else by the alphabet, empty cells last; each group by itself.
  const compare = (column, direction) => (one, other) => {
    const key = (row) => (row.cells[column].firstElementChild ?? row.cells[column]).textContent.trim();
    const [a, b] = [key(one), key(other)];
    if (!a || !b) return !a - !b;
    const [x, y] = [a, b].map((each) => parseFloat(each.replaceAll(",", "")));
    return direction * (Number.isNaN(x - y) ? a.localeCompare(b) : x - y);
  };

  const unfolded = new Map(); // groups that the reader has folded or unfolded
  const open = (group) => !group.head || (unfolded.get(group) ?? Boolean(address()));
  const fold = () => {
    for (const group of groups) {
      group.body.classList.toggle("ledger-folded", !open(group));
      group.button?.setAttribute("aria-expanded", open(group));
    }
    const all = groups.every(open);
    unfold.textContent = all ? "Fold all groups" : "Unfold all groups";
    unfold.hidden = !groups.some((group) => group.head);
  };

  const show = () => {
    const wanted = terms(state.q);
    const origins = WHOSE.find(([name]) => name === state.whose)[2];
    for (const row of rows) {
      const { words, verdict, says, briefly } = facts.get(row);
      const whose = !state.whose || origins.some((origin) => row.classList.contains(`of-${origin}`));
      const found = wanted.every((term) => words.includes(term));
      row.hidden = !(found && whose && (!state.verdict.size || state.verdict.has(verdict)));
      // If a word occurs only in the statement, unfold the statement.
      if (says) says.open = found && wanted.some((term) => !briefly.includes(term));
    }
    const column = COLUMNS.indexOf(state.sort.replace("-", ""));
    const direction = state.sort.startsWith("-") ? -1 : 1;
    for (const group of groups) {
      group.body.append(...(column < 0 ? group.rows : [...group.rows].sort(compare(column, direction))));
      group.body.hidden = group.rows.every((row) => row.hidden);
    }
    heads.forEach((head, each) => {
      if (each === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    if (plain(search.value) !== plain(state.q)) search.value = state.q;
    for (const radio of radios) radio.checked = radio.value === state.whose;
    for (const chip of chips) chip.setAttribute("aria-pressed", state.verdict.has(chip.value));
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${rows.length} claims`;
    reset.hidden = !address();
    fold();
  };

  // A head sorts upwards, then downwards, then restores the first order.
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", className: "ledger-sort", textContent: head.textContent.trim() });
    button.addEventListener("click", () => {
      const name = COLUMNS[column];
      state.sort = { [name]: `-${name}`, [`-${name}`]: "" }[state.sort] ?? name;
      write();
    });
    head.replaceChildren(button);
  });

  for (const group of groups) {
    if (!group.title) continue;
    group.button = make("button", { type: "button", className: "ledger-fold" }, ...group.title.childNodes);
    group.button.addEventListener("click", () => {
      unfolded.set(group, !open(group));
      fold();
    });
    group.title.replaceChildren(group.button);
  }

  const search = make("input", { type: "search", id: "ledger-search", placeholder: 'words, or "a phrase"' });
  search.addEventListener("input", () => {
    state.q = search.value;
    write(true);
  });
  search.addEventListener("change", () => { typing = false; });
  const radios = WHOSE.map(([value]) => make("input", { type: "radio", name: "ledger-whose", value }));
  const whose = make("fieldset", {}, make("legend", { textContent: "Origin" }));
  WHOSE.forEach(([, words, origins], each) => {
    const some = rows.filter((row) => origins.some((origin) => row.classList.contains(`of-${origin}`))).length;
    whose.append(make("label", {}, radios[each], ` ${words} `, make("small", { textContent: each ? some : rows.length })));
    radios[each].addEventListener("change", () => {
      state.whose = radios[each].value;
      write();
    });
  });
  const verdicts = make("fieldset", {}, make("legend", { textContent: "Verdict" }));
  const badges = new Map(rows.map((row) => [text(row, 0), row]));
  const chips = [...badges].map(([words, row]) => {
    const { verdict } = facts.get(row);
    const some = [...facts.values()].filter((fact) => fact.verdict === verdict).length;
    const chip = make("button", { type: "button", value: verdict, className: `verdict verdict-${verdict.replace("-over-the-measured-range", "")}` });
    chip.append(`${words} `, make("small", { textContent: some }));
    chip.addEventListener("click", () => {
      if (!state.verdict.delete(verdict)) state.verdict.add(verdict);
      write();
    });
    verdicts.append(chip);
    return chip;
  });
  const count = make("span", { role: "status", className: "ledger-count" });
  const reset = make("button", { type: "button", textContent: "Show all claims" });
  reset.addEventListener("click", () => {
    state = { q: "", verdict: new Set(), whose: "", sort: "" };
    search.value = "";
    write();
    search.focus();
  });
  const unfold = make("button", { type: "button" });
  unfold.addEventListener("click", () => {
    const all = groups.every(open);
    for (const group of groups) unfolded.set(group, !all);
    fold();
  });
  const line = make("div", { className: "ledger-line" }, make("label", { htmlFor: search.id, textContent: "Search" }), search, count, reset, unfold);
  const controls = make("div", { className: "ledger-controls", role: "search", ariaLabel: "The ledger" }, line, whose, verdicts);
  (table.closest(".pst-scrollable-table-container") ?? table).before(controls);

  // A link to a row or a group unfolds the group; an address with choices restores them.
  const follow = () => {
    typing = false;
    unfolded.clear();
    read();
    const target = !location.hash.startsWith(ADDRESS) && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const group = target && groups.find(({ body }) => body.contains(target));
    if (group) unfolded.set(group, true);
    show();
    if (group) target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
  follow();
  if (location.hash.startsWith(ADDRESS)) controls.scrollIntoView();
  // The numbers of the totals select rows: scroll to these.
  for (const link of document.querySelectorAll(`.ledger-totals a[href^="${ADDRESS}"]`)) {
    link.addEventListener("click", () => requestAnimationFrame(() => controls.scrollIntoView()));
  }
});
