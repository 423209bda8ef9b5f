"use strict";
// Shows the items in pages, and those that fit the filter. Without this script, and in print, every
// item is shown. It runs before the body is there, so that the style sheet can keep back what is
// not on the first page.
(() => {
  const ON_A_PAGE = 10; // also in the style sheet

  const root = document.documentElement;
  root.classList.add("scripted");
  // Whoever shows this page in a frame says score and warnings beside it.
  root.classList.toggle("embedded", new URLSearchParams(location.search).has("embedded"));

  document.addEventListener("DOMContentLoaded", () => {
    const form = document.getElementById("filter");
    const { open, all, previous, next } = form.elements;
    const range = document.getElementById("range");
    const total = document.getElementById("total");
    const status = form.querySelector("output");
    const items = [...document.querySelectorAll(".item")]
      .map((element) => ({ element, fits: true, text: null, errors: null }));
    let fitting = items;
    let first = 0; // the place of the page's first item among those that fit

    function textOf(item) {
      item.text ??= normal([...item.element.querySelectorAll("bdi")]
        .map((each) => each.textContent).join("\n"));
      return item.text;
    }

    function errorsOf(item) {
      item.errors ??= [...item.element.querySelectorAll("tr[data-error]")].map((row) => row.dataset);
      return item.errors;
    }

    function normal(text) {
      return text.normalize("NFC").toLowerCase();
    }

    function filter() {
      const wanted = Object.fromEntries(new FormData(form));
      const text = normal(wanted.text).trim();
      for (const item of items) {
        const data = item.element.dataset;
        item.fits =
          (!wanted.wrong || data.wrong === "yes") &&
          (!wanted.status || data.status === wanted.status) &&
          (!(wanted.field || wanted.error) || errorsOf(item).some((row) =>
            (!wanted.field || row.field === wanted.field) &&
            (!wanted.error || row.error === wanted.error))) &&
          (!text || textOf(item).includes(text));
      }
      fitting = items.filter((item) => item.fits);
      const active = Object.values(wanted).filter((value) => value.trim()).length;
      open.textContent = open.dataset.text + (active ? ` (${active})` : "");
      all.hidden = !active;
      const pages = Math.ceil(fitting.length / ON_A_PAGE);
      range.replaceChildren(...Array.from({ length: pages }, (_, page) => {
        const from = page * ON_A_PAGE + 1;
        const to = Math.min(from + ON_A_PAGE - 1, fitting.length);
        return new Option(from === to ? from : `${from}–${to}`, page * ON_A_PAGE);
      }));
      range.hidden = !fitting.length;
      const key = !fitting.length ? "none" : fitting.length < items.length ? "found" : "all";
      total.textContent = total.dataset[key]
        .replace("{count}", fitting.length.toLocaleString(root.lang));
    }

    // Shows the page with the item of this place among those that fit.
    function show(place) {
      first = Math.max(0, place - place % ON_A_PAGE);
      const shown = new Set(fitting.slice(first, first + ON_A_PAGE));
      for (const item of items) {
        conceal(item.element, !item.fits ? "" : shown.has(item) ? null : "until-found");
      }
      range.value = first;
      previous.ariaDisabled = first === 0;
      next.ariaDisabled = first + ON_A_PAGE >= fitting.length;
      status.textContent = shown.size
        ? `${status.dataset.text} ${range.selectedOptions[0].text} ${total.textContent}`
        : total.textContent;
    }

    // A browser's own search and links to an anchor reach what is hidden until it is found.
    function conceal(element, how) {
      if (element.getAttribute("hidden") === how) return;
      if (how === null) element.removeAttribute("hidden");
      else element.setAttribute("hidden", how);
    }

    // What an anchor leads to, or has the focus, is not behind the bar.
    function pad() {
      root.style.scrollPaddingTop = `${form.offsetHeight + 16}px`;
    }

    // The same; for a reader who is in the middle of the list, the new page begins at the top.
    function turn(place) {
      const isStuck = form.getBoundingClientRect().top < 1;
      show(place);
      pad();
      if (isStuck) fitting[first]?.element.scrollIntoView();
    }

    // Shows the page with an element, even if the filter had excluded it.
    function reveal(element) {
      const isMeant = (item) => item.element.contains(element) || item.part?.contains(element);
      if (!fitting.some(isMeant)) {
        if (!items.some(isMeant)) return false;
        form.reset();
        filter();
      }
      show(fitting.findIndex(isMeant));
      return true;
    }

    function jump() {
      const target = document.getElementById(location.hash.slice(1));
      if (target && reveal(target)) target.scrollIntoView();
    }

    function update() {
      filter();
      turn(0);
    }

    form.addEventListener("input", (event) => {
      if (event.target === range) turn(Number(range.value));
      else update();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    all.addEventListener("click", () => {
      form.reset();
      update();
      form.elements.text.focus(); // the button is no longer there
    });
    previous.addEventListener("click", () => turn(Math.max(0, first - ON_A_PAGE)));
    next.addEventListener("click", () => {
      if (first + ON_A_PAGE < fitting.length) turn(first + ON_A_PAGE);
    });
    open.addEventListener("click", () => { open.ariaExpanded = open.ariaExpanded !== "true"; });
    new ResizeObserver(pad).observe(form);
    document.addEventListener("beforematch", (event) => reveal(event.target));
    addEventListener("hashchange", jump);
    const menu = document.querySelector(".menu");
    document.addEventListener("click", (event) => {
      if (menu && !menu.contains(event.target)) menu.open = false;
    });
    menu?.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.firstElementChild.focus();
    });

    document.getElementById("find-note").hidden = "onbeforematch" in root;
    form.hidden = false;
    filter();
    show(0);
    pad();
    jump();
    root.classList.add("paged");
  });
})();
