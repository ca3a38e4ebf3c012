// A choice of paper and verdict above a table of claims, and a search in its rows.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.claims")) {
    const rows = [...table.tBodies[0].rows];
    const text = (row, column) => row.cells[column].textContent.trim();
    const paper = (row) => text(row, 0).replace(/-\d+$/, "");
    const verdict = (row) => text(row, 1).replace(/ \(.*/, "");
    const bar = document.createElement("p");
    bar.className = "claims-filter";
    const choice = (label, values) => {
      const select = document.createElement("select");
      select.setAttribute("aria-label", label);
      select.append(new Option(label, ""), ...[...new Set(values)].map((value) => new Option(value)));
      bar.append(select);
      return select;
    };
    const papers = choice("all papers", rows.map(paper));
    const verdicts = choice("all verdicts", [...rows.map(verdict), "rule changed"]);
    const words = document.createElement("input");
    words.type = "search";
    words.placeholder = "words in a row";
    words.setAttribute("aria-label", words.placeholder);
    const count = document.createElement("span");
    bar.append(words, count);
    const filter = () => {
      let shown = 0;
      for (const row of rows) {
        const given = verdicts.value === "rule changed" ? text(row, 1).includes("(") : verdict(row) === verdicts.value;
        const wanted = words.value.toLowerCase().split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
        row.hidden = !((!papers.value || paper(row) === papers.value) && (!verdicts.value || given) && wanted);
        shown += !row.hidden;
      }
      count.textContent = `${shown} of ${rows.length} claims`;
    };
    bar.addEventListener("input", filter);
    table.before(bar);
    filter();
  }
});
