// A page that is opened from disk may not fetch others: let the search list titles without excerpts.
if (window.location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// Paper is white, and nothing on it can be unfolded: print the light page with every dropdown open.
// (sphinx-togglebutton opens its own dropdowns.)
let themeOnScreen;
window.addEventListener("beforeprint", () => {
  themeOnScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  for (const details of document.querySelectorAll("details:not([open], .toggle-details)")) {
    details.dataset.openedToPrint = "";
    details.open = true;
  }
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = themeOnScreen;
  for (const details of document.querySelectorAll("details[data-opened-to-print]")) {
    delete details.dataset.openedToPrint;
    details.open = false;
  }
});

// A link to the box on citing finds it open.
const openCitation = () => {
  if (window.location.hash === "#cite-this-page") document.getElementById("cite-this-page")?.setAttribute("open", "");
};
document.addEventListener("DOMContentLoaded", openCitation);
window.addEventListener("hashchange", openCitation);

// A formula that is wider than its column is set smaller, and scrolls if that is not enough. What scrolls says on which
// side there is more of it, which the style sheet shades, and the arrow keys move it too. A formula that fits is not a
// stop of the Tab key. (For code and tables, the theme makes the stops.)
const SMALLEST = 0.72;
const sayMore = (box) => {
  // The shades of a table need no script.
  if (box.matches(".pst-scrollable-table-container")) return;
  const hidden = box.scrollWidth - box.clientWidth;
  const sides = [box.scrollLeft > 1 && "left", box.scrollLeft < hidden - 1 && "right"].filter(Boolean);
  sides.length ? (box.dataset.more = sides.join(" ")) : delete box.dataset.more;
};
const scrolled = (event) => sayMore(event.currentTarget);
const sayIfCut = (box) => {
  if (box.scrollWidth > box.clientWidth + 1) {
    if (!box.matches("pre") && !box.querySelector("[tabindex]")) box.setAttribute("tabindex", "0");
    box.addEventListener("scroll", scrolled, { passive: true });
    sayMore(box);
  } else {
    if (!box.matches("pre")) box.removeAttribute("tabindex");
    delete box.dataset.more;
  }
};
const columnOf = (formula) => {
  let column = formula.parentElement;
  while (getComputedStyle(column).display.startsWith("inline")) column = column.parentElement;
  return column;
};
const insideOf = (box) => {
  const { paddingLeft, paddingRight } = getComputedStyle(box);
  return box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
};
// MathJax's own size, which fits the letters around.
const ownSize = (formula) => (formula.style.fontSize = formula.dataset.size ??= formula.style.fontSize);
// A formula that would be too small keeps its size, and scrolls.
const mayShrink = (share) => share > 0 && share < 1 && share * 0.99 >= SMALLEST;
const smaller = (formula, share) => {
  const size = parseFloat(getComputedStyle(formula).fontSize);
  formula.style.fontSize = `${size * share * 0.99}px`;
};
const widthOf = (formula) => formula.querySelector("mjx-math").getBoundingClientRect().width;

// The lines of one statement have one size.
const STATEMENT = ".claim-formula";
const fitDisplayed = (boxes) => {
  const formulas = [...new Set(boxes.flatMap((box) => [...(box.closest(STATEMENT) ?? box).querySelectorAll('mjx-container[display="true"]')]))];
  formulas.forEach(ownSize);
  const shares = new Map();
  for (const formula of formulas) {
    // A numbered formula does not shrink with its box.
    const box = formula.closest("div.math") ?? formula;
    const group = formula.closest(STATEMENT) ?? formula;
    const share = Math.min(formula.clientWidth, insideOf(box)) / widthOf(formula);
    shares.set(group, Math.min(shares.get(group) ?? 1, share));
  }
  for (const formula of formulas) {
    const share = shares.get(formula.closest(STATEMENT) ?? formula);
    if (mayShrink(share)) smaller(formula, share);
  }
  for (const formula of formulas) {
    sayIfCut(formula);
    const box = formula.closest("div.math");
    if (box) sayIfCut(box);
  }
};
const fitInline = (columns) => {
  const formulas = columns.flatMap((column) => [...column.querySelectorAll('mjx-container:not([display="true"])')]
    .filter((formula) => columnOf(formula) === column).map((formula) => [formula, column]));
  for (const [formula] of formulas) {
    ownSize(formula);
    formula.parentElement.classList.remove("sb-cut");
  }
  // The mark behind a formula stays on its line.
  const room = (formula, column) => insideOf(column) - (formula.closest(".sb-whole") ? 8 : 0);
  const wide = formulas.map(([formula, column]) => [formula, room(formula, column) / widthOf(formula)]);
  for (const [formula, share] of wide) {
    if (mayShrink(share)) smaller(formula, share);
    else if (share > 0 && share < 1) formula.parentElement.classList.add("sb-cut");
  }
  // A formula that fits may still reach a pixel beyond its own span, which does not scroll.
  for (const [{ parentElement: span }] of wide) {
    if (span.matches(".sb-cut")) sayIfCut(span);
    else {
      span.removeAttribute("tabindex");
      delete span.dataset.more;
    }
  }
};
const BOXES = ".bd-article :is(div.math, .sb-panels > .pst-scrollable-table-container, pre)";
const fit = (targets) => {
  fitDisplayed(targets.filter((target) => target.matches("div.math")));
  fitInline(targets.filter((target) => !target.matches(BOXES)));
  targets.filter((target) => target.matches(BOXES) && !target.matches("div.math")).forEach(sayIfCut);
};
document.addEventListener("DOMContentLoaded", () => {
  // Not within the observer: what it changes would call it again.
  const watch = new ResizeObserver((changes) => requestAnimationFrame(() => fit(changes.map(({ target }) => target))));
  const begin = () => {
    const columns = [...document.querySelectorAll('.bd-article mjx-container:not([display="true"])')].map(columnOf);
    const targets = [...new Set([...document.querySelectorAll(BOXES), ...columns])];
    targets.forEach((target) => watch.observe(target));
    // In a folded proof a box keeps its size when MathJax fills it.
    fit(targets);
  };
  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    begin();
  });
  document.addEventListener("sb-formulas-set", begin);
});

// The button that copies a cell shows only a picture.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".copybtn")) button.ariaLabel = "Copy";
});

// The address of a live book ends in the key to its kernels: keep it for this window, and out of sight.
if (window.location.hash.startsWith("#live?")) {
  window.sessionStorage.setItem("sb-live", window.location.hash.slice("#live?".length));
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
}
