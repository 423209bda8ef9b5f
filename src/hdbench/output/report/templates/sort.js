"use strict";
// Without this script the tables stand as they are; with it, their headings are buttons.
(() => {
  const words = new Intl.Collator(document.documentElement.lang, { numeric: true });

  function compare(one, other) {
    const [a, b] = [one.dataset.value, other.dataset.value];
    if (a === undefined && b === undefined) {
      return words.compare(one.textContent, other.textContent);
    }
    return Number(a) - Number(b);
  }

  function isEmpty(cell) {
    return cell.dataset.value === undefined && cell.textContent.trim() === "";
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[table.tBodies.length - 1];
    heads.forEach((head, column) => {
      if (head.dataset.first === undefined) {
        return; // a drawing
      }
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const other = { ascending: "descending", descending: "ascending" };
        const order = other[head.getAttribute("aria-sort")] ?? head.dataset.first;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = [...body.rows].sort((one, another) => {
          const [a, b] = [one.cells[column], another.cells[column]];
          if (isEmpty(a) || isEmpty(b)) {
            return isEmpty(a) - isEmpty(b); // what is not known comes last in either order
          }
          return sign * compare(a, b);
        });
        body.append(...rows);
      });
    });
    table.querySelector(".how").hidden = false;
  }
})();
