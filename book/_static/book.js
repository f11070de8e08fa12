// Opened from disk, a page may not fetch its neighbours: let the search list titles without excerpts.
if (window.location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// On paper nothing can be unfolded, so print every dropdown open, then fold what was folded.
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.dataset.openedToPrint = "";
    details.open = true;
  }
});
window.addEventListener("afterprint", () => {
  for (const details of document.querySelectorAll("details[data-opened-to-print]")) {
    details.removeAttribute("data-opened-to-print");
    details.open = false;
  }
});
