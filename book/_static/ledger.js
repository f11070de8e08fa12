// The ledger can be sorted by its heads and filtered by words and verdict. Without this script it is
// the same table in the order of the registry.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.ledger-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows]; // in the order of the registry

  // Numbers by size, all else by the alphabet, empty cells last.
  const text = (row, column) => row.cells[column].textContent.trim();
  const compare = (column, direction) => (one, other) => {
    const [a, b] = [text(one, column), text(other, column)];
    if (!a || !b) return !a - !b;
    const [x, y] = [a, b].map((each) => parseFloat(each.replaceAll(",", "")));
    return direction * (Number.isNaN(x - y) ? a.localeCompare(b) : x - y);
  };

  // A head sorts upwards, then downwards, then gives the first order back.
  const heads = [...table.tHead.rows[0].cells];
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "ledger-sort";
    button.textContent = head.textContent.trim();
    button.addEventListener("click", () => {
      const order = next[head.getAttribute("aria-sort") ?? "none"];
      for (const each of heads) each.removeAttribute("aria-sort");
      if (order !== "none") head.setAttribute("aria-sort", order);
      const direction = order === "ascending" ? 1 : -1;
      body.append(...(order === "none" ? rows : [...rows].sort(compare(column, direction))));
    });
    head.replaceChildren(button);
  });

  const words = document.createElement("input");
  words.type = "search";
  words.placeholder = "Filter: words of a claim or place";
  words.ariaLabel = words.placeholder;
  const verdict = document.createElement("select");
  verdict.ariaLabel = "Verdict";
  verdict.append(new Option("every verdict", ""));
  for (const each of new Set(rows.map((row) => text(row, 0)))) verdict.append(new Option(each, each));
  const count = document.createElement("span");
  count.role = "status";

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = !(
        wanted.every((word) => content.includes(word)) &&
        [text(row, 0), ""].includes(verdict.value)
      );
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  words.addEventListener("input", filter);
  verdict.addEventListener("input", filter);
  filter();

  const controls = document.createElement("div");
  controls.className = "ledger-controls";
  controls.append(words, verdict, count);
  (table.closest(".pst-scrollable-table-container") ?? table).before(controls);
});
