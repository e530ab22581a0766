// What the theme, pandas and MathJax leave open for readers who use a keyboard or a screen reader.

// One head row for tables of pandas whose index has names: these stand in a second row otherwise.
function joinHeads(table) {
  const rows = table.tHead ? [...table.tHead.rows] : [];
  if (rows.length !== 2 || rows[0].cells.length !== rows[1].cells.length) {
    return;
  }
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  if (texts[0].some((text, place) => text && texts[1][place])) {
    return;
  }
  texts[1].forEach((text, place) => {
    if (text) {
      rows[0].cells[place].textContent = text;
    }
  });
  rows[1].remove();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("table.dataframe").forEach(joinHeads);
  for (const head of document.querySelectorAll("th")) {
    if (!head.textContent.trim() && !head.querySelector("img, input")) {
      const cell = document.createElement("td");
      cell.className = head.className;
      cell.colSpan = head.colSpan;
      cell.rowSpan = head.rowSpan;
      head.replaceWith(cell);
    }
  }
});

window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const formula of document.querySelectorAll("mjx-container[display]")) {
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    }
  }
});
