// The page holds the texts of claims in Unicode, for the search and where no script runs, with their TeX. Here
// MathJax displays this TeX, after the formulas of the page itself.
document.addEventListener("DOMContentLoaded", async () => {
  const marked = [...document.querySelectorAll("[data-tex]")];
  await window.MathJax?.startup?.promise;
  if (!window.MathJax?.typesetPromise) return;
  for (const each of marked) {
    const [left, right] = each.matches("div") ? ["\\[", "\\]"] : ["\\(", "\\)"];
    each.textContent = left + each.dataset.tex + right;
    each.closest("[hidden]")?.removeAttribute("hidden");
  }
  await window.MathJax.typesetPromise(marked);
  document.documentElement.dataset.formulas = "set";
  document.dispatchEvent(new Event("sb-formulas-set"));
});
