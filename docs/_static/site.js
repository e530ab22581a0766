// What the theme, pandas and MathJax leave open for readers who use a keyboard or a screen reader.

document.addEventListener("DOMContentLoaded", () => {
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
