// What of the form of a page can be seen from within: pictures, captions, what is cut, characters a line.
// `measure.py` calls it with the widths, in pixels, from which on something counts as a picture.
(least) => {
  const main = document.querySelector("main article") || document.querySelector("main") || document.body;
  const seen = (each) => each.checkVisibility({visibilityProperty: true});
  const wide = (each) => each.getBoundingClientRect().width;
  const words = (each) => each.textContent.replace(/\s+/g, " ").trim().slice(0, 60);

  // A picture: what is drawn, but no icon; of one within another, the outer one.
  const drawn = [...main.querySelectorAll("img, svg, canvas")].filter(seen)
    .filter((each) => !each.parentElement.closest("svg"));
  const pictures = drawn.filter((each) => wide(each) > least.picture);
  const top = pictures.length ? pictures[0].getBoundingClientRect().top + scrollY : null;
  const bare = drawn.filter((each) => wide(each) > least.captioned)
    .filter((each) => !each.closest("figure")?.querySelector("figcaption"))
    .map((each) => each.getAttribute("alt") || each.getAttribute("aria-label") || each.tagName.toLowerCase())
    .map((name) => name.slice(0, 60));

  // Cut: wider than the nearest box that holds it back, so that it scrolls or is hidden.
  const cut = [...main.querySelectorAll("table, pre")].filter(seen).filter((each) => {
    const frame = each.closest("div") || each;
    return each.scrollWidth > frame.clientWidth + 2 || each.scrollWidth > each.clientWidth + 2;
  }).map((each) => `${each.tagName.toLowerCase()} "${words(each)}"`);

  // Characters a line of the long paragraphs: width by the mean width of their own characters, without
  // formulas, whose characters are of other widths. Cells of a table and cards side by side are columns.
  const pen = document.createElement("canvas").getContext("2d");
  const lines = [...main.querySelectorAll("p")].filter(seen)
    .filter((each) => !each.closest("table, figure, .sd-card") && each.clientWidth).map((each) => {
      const plain = each.cloneNode(true);
      plain.querySelectorAll("mjx-container").forEach((formula) => formula.remove());
      return [each, plain.textContent.replace(/\s+/g, " ").trim()];
    }).filter(([, text]) => text.length > 300).map(([each, text]) => {
      pen.font = getComputedStyle(each).font;
      return each.clientWidth / (pen.measureText(text).width / text.length);
    }).sort((a, b) => a - b);

  return {
    screens: top === null ? null : top / innerHeight, bare, cut,
    line: lines.length ? [lines[0], lines.at(-1)] : null,
  };
}
