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

// "Download this page" saves the notebook where a server would let the browser show its text.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".btn-download-source-button")) {
    link.download = link.pathname.split("/").pop();
  }
});

// A formula that is wider than its column is set smaller, and scrolls if that is not enough: let the arrow keys move it
// too. A formula that fits is not a
// stop of the Tab key. (The theme does this for code and tables.)
const SMALLEST = 0.72;
const focusIfCut = (box) => {
  for (const formula of box.querySelectorAll('mjx-container[display="true"]')) {
    // MathJax's own size, which fits the letters around.
    formula.style.fontSize = formula.dataset.size ??= formula.style.fontSize;
    const share = formula.clientWidth / formula.querySelector("mjx-math").getBoundingClientRect().width;
    const size = parseFloat(getComputedStyle(formula).fontSize);
    if (share < 1) formula.style.fontSize = `${size * Math.max(share * 0.99, SMALLEST)}px`;
  }
  for (const each of [...box.querySelectorAll("mjx-container"), box]) {
    const cut = each.scrollWidth > each.clientWidth && !each.querySelector("[tabindex]");
    cut ? each.setAttribute("tabindex", "0") : each.removeAttribute("tabindex");
  }
};
document.addEventListener("DOMContentLoaded", () => {
  const watch = new ResizeObserver((changes) => changes.forEach(({ target }) => focusIfCut(target)));
  for (const box of document.querySelectorAll(".bd-article :is(div.math, .sb-panels > .pst-scrollable-table-container)")) {
    watch.observe(box);
  }
});
// In a folded proof a box keeps its size when MathJax fills it.
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  document.querySelectorAll(".bd-article :is(div.math, .sb-panels > .pst-scrollable-table-container)").forEach(focusIfCut);
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
