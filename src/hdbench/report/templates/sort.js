"use strict";
// Without this script the tables stand as they are; with it, their headings are buttons that sort,
// rows can be filtered, and the address keeps both. A page around this one is told of it, and of how
// high this one is.
(() => {
  const words = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const OTHER = { ascending: "descending", descending: "ascending" };
  const form = document.getElementById("wanted");
  const tables = [...document.querySelectorAll("table.sortable")];
  const rowsOf = (table) => [...table.tBodies[table.tBodies.length - 1].rows];

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

  function sort(table, head, order) {
    const column = head.cellIndex;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = rowsOf(table).sort((one, another) => {
      const [a, b] = [one.cells[column], another.cells[column]];
      if (isEmpty(a) || isEmpty(b)) {
        return isEmpty(a) - isEmpty(b); // what is not known comes last in either order
      }
      return sign * compare(a, b);
    });
    table.tBodies[table.tBodies.length - 1].append(...rows);
  }

  // What is not known fits no upper limit.
  function fits(row, wanted) {
    const most = (key) => {
      const value = row.querySelector(`[data-key=${key}]`)?.dataset.value;
      return !wanted[key] || (value !== undefined && Number(value) <= Number(wanted[key]));
    };
    return row.querySelector("th").textContent.toLowerCase().includes((wanted.model ?? "").trim().toLowerCase()) &&
      (!wanted.family || row.dataset.family === wanted.family) &&
      (!wanted.open || row.dataset.open === "yes") &&
      (!wanted.local || row.dataset.local === "yes") && most("cost") && most("seconds");
  }

  function filter() {
    const wanted = Object.fromEntries(new FormData(form));
    for (const table of tables) {
      const rows = rowsOf(table);
      for (const row of rows) row.hidden = !fits(row, wanted);
      const shown = rows.filter((row) => !row.hidden).length;
      const found = table.closest("section").querySelector(".found");
      found.hidden = shown === rows.length;
      found.textContent = found.hidden ? "" : (shown ? found.dataset.found : found.dataset.none)
        .replace("{shown}", shown).replace("{count}", rows.length);
    }
  }

  function keep() {
    const state = new URLSearchParams();
    if (form) for (const [name, value] of new FormData(form)) if (value) state.set(name, value);
    for (const table of tables) {
      const head = table.querySelector("[aria-sort]");
      if (head.dataset.key !== "headline" || head.getAttribute("aria-sort") !== head.dataset.first) {
        state.set(table.dataset.name, `${head.dataset.key} ${head.getAttribute("aria-sort")}`);
      }
    }
    history.replaceState(null, "", `#${state}`);
    parent.postMessage({ state: `${state}` }, "*");
  }

  function restore() {
    if (document.getElementById(location.hash.slice(1))) return; // a link within the page
    const state = new URLSearchParams(location.hash.slice(1));
    for (const control of form?.elements ?? []) {
      if (control.type === "checkbox") control.checked = state.has(control.name);
      else control.value = state.get(control.name) ?? "";
    }
    if (form) filter();
    for (const table of tables) {
      const [key, order] = (state.get(table.dataset.name) ?? "headline").split(" ");
      const head = [...table.tHead.rows[0].cells].find((each) => each.dataset.key === key && each.dataset.first);
      if (head) sort(table, head, Object.hasOwn(OTHER, order) ? order : head.dataset.first);
    }
  }

  for (const table of tables) {
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.first === undefined) continue; // a drawing
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        sort(table, head, OTHER[head.getAttribute("aria-sort")] ?? head.dataset.first);
        keep();
      });
    }
  }
  for (const how of document.querySelectorAll(".how")) how.hidden = false;
  if (form) {
    form.hidden = false;
    form.addEventListener("input", () => { filter(); keep(); });
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  if (parent !== window) {
    document.documentElement.classList.add("embedded");
    addEventListener("message", ({ source, data }) => {
      if (source === parent) document.documentElement.dataset.scheme = data.scheme;
    });
    // By itself, a link within a page moves nothing around its frame.
    for (const link of document.querySelectorAll("a[href^='#']")) {
      link.addEventListener("click", () => document.querySelector(link.hash).scrollIntoView());
    }
    new ResizeObserver(() => parent.postMessage({ height: document.body.offsetHeight }, "*")).observe(document.body);
  }
  addEventListener("hashchange", restore);
  restore();
})();
