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

// Names of rows from this length on may have several lines.
const LONG_NAME = 22;

// Wide tables fade at the right as long as more of them lies there.
function fadeAtEdge(box) {
  const mark = () => {
    box.classList.toggle("more-beyond", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  };
  box.addEventListener("scroll", mark);
  new ResizeObserver(mark).observe(box);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("table.dataframe").forEach(joinHeads);
  for (const name of document.querySelectorAll('div[style*="overflow-x"] td:first-child')) {
    name.classList.toggle("long-name", name.textContent.length >= LONG_NAME);
  }
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
  const wide =
    '.cell_output div[style*="overflow-x"], .cell_output .text_html, .pst-scrollable-table-container';
  document.querySelectorAll(wide).forEach(fadeAtEdge);
  for (const picture of document.querySelectorAll(".cell_output img")) {
    const box = picture.closest(".cell_output");
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      fadeAtEdge(box);
    }
  }
  await window.MathJax?.startup?.promise;
  for (const formula of document.querySelectorAll("mjx-container[display]")) {
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    }
  }
});
