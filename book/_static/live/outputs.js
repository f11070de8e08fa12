// Puts what a run displays into the places where the page shows the book's own results, and puts those back.
SpeedLive.outputs = (() => {
  "use strict";

  const { element } = SpeedLive.form;
  const ANSI = /\x1b\[[0-9;]*[A-Za-z]/g;
  const parsed = (html) => element("template", { innerHTML: html }).content;
  const rowsOf = (card) => [...card.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling]);
  const cardName = (card) => card.querySelector(".claim-card-title code")?.textContent;
  const badgeOf = (card) => card?.querySelector(".claim-card-title .verdict");

  // A card of the run in the form of the book's card, whose unchanged rows show formulas.
  const mergedCard = (fresh, shown, plain) => {
    if (!shown || !plain) return fresh;
    const card = shown.cloneNode(true);
    card.removeAttribute("id");
    card.className = fresh.className;
    badgeOf(card).replaceWith(badgeOf(fresh).cloneNode(true));
    const before = new Map(rowsOf(plain).map(([name, cell]) => [name, cell.textContent]));
    const formulas = new Map(rowsOf(card));
    const list = element("dl");
    for (const [name, cell] of rowsOf(fresh)) {
      const same = before.get(name) === cell.textContent && formulas.has(name);
      const kept = same ? formulas.get(name) : cell.cloneNode(true);
      if (!same) kept.classList.add("sb-changed");
      list.append(element("dt", { textContent: name }), kept);
    }
    card.querySelector("dl").replaceWith(list);
    const was = badgeOf(shown).textContent.trim();
    if (was !== badgeOf(fresh).textContent.trim()) {
      list.before(element("p", { className: "sb-live-was", textContent: `In the book: ${was}` }));
    }
    return card;
  };

  const FRACTIONS = { "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4" };
  const MARK = new RegExp(
    [
      /(?<=[\d)\]]|(?<![\p{L}_])\p{L})\^(?:\((?<bracket>[^()^]+)\)|(?<plain>[−-]?\d+(?:\.\d+)?|[½⅓⅔¼¾]|\p{L}(?![\p{L}\d_])))/,
      /(?<![\p{L}\d_.])(?<factor>\d+(?:\.\d+)?)e(?<way>[\-+])0*(?<ten>\d+)(?![\p{L}\d_])/,
      /(?<=[α-ωΑ-Ω])_(?<index>[\p{L}\d])(?![\p{L}\d_])|(?<=[α-ωΑ-Ω][²⁴])(?<extreme>max|min)(?![\p{L}\d_])/,
    ].map(({ source }) => source).join("|"),
    "gu",
  );
  const sign = (textContent) => element("span", { className: "sb-sign", textContent });
  const lowered = (textContent) => element("sub", { textContent });
  const lifted = (textContent) => element("sup", { textContent: textContent.replaceAll("-", "−") });
  const ofTen = ({ factor, way, ten }) => {
    if (ten === "0") return [factor, sign("e+0")];
    const alone = factor === "1";
    const before = sign(`${alone ? "1" : ""}e${way === "-" ? "" : "+"}`);
    const written = element("span", { className: alone ? "sb-ten" : "sb-ten sb-times" });
    return [...(alone ? [] : [factor]), before, written, lifted(way === "-" ? `-${ten}` : ten)];
  };
  const marked = (parts) => {
    const { bracket, plain, factor, index, extreme } = parts;
    if (factor) return ofTen(parts);
    if (extreme) return [lowered(extreme)];
    if (index) return [sign("_"), lowered(index)];
    return bracket ? [sign("^("), lifted(bracket), sign(")")] : [sign("^"), lifted(FRACTIONS[plain] ?? plain)];
  };
  const raised = (text) => {
    const whole = text.replace(/(?<=\d)\*(?=\p{L}\^)/gu, "·");
    const nodes = [];
    let end = 0;
    for (const found of whole.matchAll(MARK)) {
      nodes.push(whole.slice(end, found.index), ...marked(found.groups));
      end = found.index + found[0].length;
    }
    return [...nodes, whole.slice(end)];
  };

  // As the book mends its tables (speedbook/press/sphinx/page_html.py): a cell without anything has a dash, a corner without
  // text is a cell, not a head, and a number stays on a line with its error, and an interval with both its ends. Powers in data frames are raised, and indices
  // lowered, as by speedbook/press/powers.py.
  const mended = (content) => {
    for (const cell of content.querySelectorAll("tbody td:empty")) cell.textContent = "–";
    for (const head of content.querySelectorAll("th")) {
      if (!head.textContent.trim()) head.replaceWith(element("td"));
    }
    for (const cell of content.querySelectorAll("td")) {
      if (cell.children.length) continue;
      cell.textContent = cell.textContent.replace(/(?<=\d) ± (?=\d)/g, "\u00a0±\u00a0").replace(/(?<=\d,) (?=[−-]?[\d.]+\])/g, "\u00a0");
    }
    for (const cell of content.querySelectorAll(".dataframe :is(td, th)")) {
      if (!cell.children.length && cell.textContent.search(MARK) >= 0) cell.replaceChildren(...raised(cell.textContent));
    }
    return content;
  };

  const code = (text, name) =>
    element(
      "div",
      { className: `output ${name} highlight-myst-ansi notranslate` },
      element("div", { className: "highlight" }, element("pre", { textContent: text.replace(ANSI, "") })),
    );

  class Outputs {
    constructor(cells) {
      // The notebook's cells, with the outputs of the book.
      this.cells = cells;
      this.kept = [];
      this.addresses = [];
    }

    place(name) {
      return document.querySelector(`.bd-article .tag_run-${CSS.escape(name)}`);
    }

    picture(data, about, figure) {
      const bytes = Uint8Array.from(atob(data.replace(/\s/g, "")), (letter) => letter.charCodeAt(0));
      const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
      this.addresses.push(address);
      const shown = figure?.cloneNode(true) ?? element("figure", {}, element("img", { className: "sb-figure" }));
      const image = shown.querySelector("img");
      image.src = address;
      image.alt = about?.alt ?? "A figure of this run, without a description";
      if (about?.width) image.style.width = `${about.width}px`;
      // The picture in a larger size, as in the book.
      if (image.parentElement.matches("a")) image.parentElement.href = address;
      return shown;
    }

    html(text, cell, box) {
      const content = parsed(text);
      const own = (cell.outputs ?? []).map((output) => parsed([output.data?.["text/html"] ?? ""].flat().join("")));
      const find = (places, name) => places.flatMap((place) => [...place.querySelectorAll(".claim-card")]).find((card) => cardName(card) === name);
      for (const card of content.querySelectorAll(".claim-card")) {
        const name = cardName(card);
        card.replaceWith(mergedCard(card, box && find([box], name), find(own, name)));
      }
      // A column may be called \(x\), as a reader's own; what a card shows is set already.
      for (const each of content.querySelectorAll("table.dataframe, .claim-card")) each.classList.add("mathjax_ignore");
      return element("div", { className: "output text_html output_area" }, mended(content));
    }

    // Show the outputs of a cell. `toHtml` turns Markdown, and TeX between its signs, into HTML.
    async show(cell, outputs, toHtml) {
      const place = this.place(cell.id);
      const lead = (cell.metadata.tags ?? []).includes("lead") ? this.place("lead-picture") : null;
      const box = place?.querySelector(".cell_output");
      const figures = [...((lead ?? place)?.querySelectorAll(".cell_output > figure") ?? [])];
      const fresh = element("div", { className: "cell_output docutils container sb-live" });
      const above = element("div", { className: "cell_output docutils container sb-live" });
      for (const output of outputs) {
        const { data = {}, metadata = {} } = output;
        if (output.type === "stream") fresh.append(code(output.text, "stream"));
        else if (output.type === "error") fresh.append(code(output.traceback.join("\n") || `${output.ename}: ${output.evalue}`, "traceback"));
        else if (data["image/png"]) {
          const picture = this.picture(data["image/png"], metadata["image/png"], figures.shift());
          (lead && !above.children.length ? above : fresh).append(picture);
        } else if (data["text/html"]) fresh.append(this.html(data["text/html"], cell, box));
        else if (data["text/markdown"] || data["text/latex"]) {
          const html = await toHtml(data["text/markdown"] || data["text/latex"]);
          fresh.append(element("div", { className: "output text_html output_area" }, parsed(html)));
        } else if (data["text/plain"]) fresh.append(code(data["text/plain"], "text_plain"));
      }
      if (lead && above.children.length) this.replace(lead.querySelector(".cell_output"), above);
      if (box) this.replace(box, fresh);
      else if (fresh.children.length) this.add(place, fresh);
      await this.typeset([above, fresh]);
    }

    // MathJax reads what has the class `output_area`, as in the book.
    async typeset(boxes) {
      const formulas = boxes.flatMap((box) => [...box.querySelectorAll(".output_area")]);
      if (formulas.length && window.MathJax?.typesetPromise) await window.MathJax.typesetPromise(formulas);
    }

    replace(old, fresh) {
      old.replaceWith(fresh);
      this.kept.push(() => fresh.replaceWith(old));
    }

    add(place, fresh) {
      // A cell that the page does not show has no place of its own; only its failure is shown, where the run stopped.
      if (!place) return;
      place.append(fresh);
      this.kept.push(() => fresh.remove());
    }

    // Numbers and badges in the text.
    bound(texts) {
      const fill = (kind, entries, write) => {
        for (const each of document.querySelectorAll(`.bd-article [data-${kind}]`)) {
          const text = entries[each.dataset[kind]];
          if (text === undefined) continue;
          const before = [...each.childNodes];
          const changed = write(each, text);
          each.classList.toggle("sb-changed", changed);
          this.kept.push(() => {
            each.replaceChildren(...before);
            each.classList.remove("sb-changed");
          });
        }
      };
      const differs = (each, write) => {
        const before = each.textContent.trim();
        write();
        return each.textContent.trim() !== before;
      };
      fill("ledger", texts.numbers, (each, text) => differs(each, () => (each.textContent = text)));
      fill("badge", texts.badges, (each, html) => differs(each, () => each.replaceChildren(parsed(html))));
    }

    // The page as the book has it.
    restore() {
      while (this.kept.length) this.kept.pop()();
      for (const address of this.addresses.splice(0)) URL.revokeObjectURL(address);
    }
  }

  return { Outputs };
})();
