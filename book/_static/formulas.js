// What claims say stands in Unicode on the page, for the search and where no script runs. Here MathJax sets
// the TeX that stands beside it, once it has set the formulas of the page itself.
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
});
