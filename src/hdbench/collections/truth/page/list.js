// The list of items, with search and filter.

import { element } from "./elements.js";
import { ask } from "./saving.js";

const SHOWN = 200;
const TYPED = 250;
const FILTERS = ["all", "open", "done", "doubtful", "missing", "rejected", "conflict"];
const ASSIGNED = ["mine", "settling"]; // shown only if several people annotate the same items
const LEFT = ["open", "settling", "conflict", "doubtful"]; // what somebody has to do something about

export class ItemList {
  constructor({ say, items, open, current, filtered }) {
    Object.assign(this, { say, items, open, current, filtered });
    this.dialog = document.getElementById("list");
    this.search = document.getElementById("search");
    this.filter = document.getElementById("filter");
    const isAssigned = items.some(([, , , stage, mine]) => mine || stage !== "plain");
    this.filters = isAssigned ? [...FILTERS, ...ASSIGNED] : FILTERS;
    this.filter.append(...this.filters.map((value) => element("option", { value })));
    if (items.some(([, , , stage, mine]) => mine && stage !== "plain")) this.filter.value = "mine";
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.draw(), TYPED);
    });
    this.filter.addEventListener("change", () => {
      filtered();
      this.draw();
    });
  }

  get onlyMine() {
    return this.filter.value === "mine";
  }

  // What the items are that previous and next lead to; empty for all of them.
  get only() {
    return this.filter.value === "all" ? "" : this.label(this.filter.value);
  }

  label(filter) {
    return this.say(["all", "conflict", ...ASSIGNED].includes(filter) ? `filter_${filter}` : `status_${filter}`);
  }

  // The item before or behind one, of those that the filter lets through.
  beside(number, step) {
    let found = number + step;
    while (this.items[found] && !this.passes(found)) found += step;
    return found;
  }

  passes(number, filter = this.filter.value) {
    const [, status, conflict, stage, mine] = this.items[number];
    const others = { all: true, conflict, mine, settling: stage === "settling" };
    return others[filter] ?? (stage !== "others" && status === filter);
  }

  // The numbers of the items that a filter lets through.
  of(filter) {
    return [...this.items.keys()].filter((number) => this.passes(number, filter));
  }

  counted(filter) {
    return `${this.label(filter)} (${this.of(filter).length})`;
  }

  update(number, { status, conflicts, stage }) {
    this.items[number].splice(1, 3, status, conflicts.length > 0, stage);
  }

  show() {
    for (const option of this.filter.options) option.text = this.counted(option.value);
    this.dialog.showModal();
    this.search.focus();
    this.search.select();
    this.draw();
  }

  // Buttons that lead to what is left to do, the first of them as what comes next.
  left() {
    return this.filters.filter((name) => LEFT.includes(name) && this.of(name).length).map((name, place) => {
      const button = element("button", { type: "button", class: place ? null : "first", text: this.counted(name) });
      button.addEventListener("click", () => {
        button.closest("dialog").close();
        this.filter.value = name;
        this.filtered();
        this.open(this.of(name)[0]);
      });
      return button;
    });
  }

  async draw() {
    const wanted = this.search.value.trim();
    const numbers = wanted
      ? await ask(`search?q=${encodeURIComponent(wanted)}`).catch(() => null)
      : [...this.items.keys()];
    if (!numbers || wanted !== this.search.value.trim()) return;
    const found = numbers.filter((number) => this.passes(number));
    // Around the item that is open, as there may be ten thousand.
    const start = wanted || this.only ? 0 : Math.max(0, Math.min(this.current() - 20, found.length - SHOWN));
    const shown = found.slice(start, start + SHOWN);
    document.getElementById("found").textContent = found.length > shown.length
      ? this.say("found_more", { count: found.length, shown: shown.length })
      : this.say("found", { count: found.length });
    document.getElementById("found-items").replaceChildren(...shown.map((number) => this.entry(number)));
    this.dialog.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  entry(number) {
    const [id, status, conflict, stage, , hasPicture] = this.items[number];
    const key = { others: "stage_others", settling: "filter_settling" }[stage]
      ?? (conflict ? "filter_conflict" : `status_${status}`);
    const image = element("img", { alt: "", loading: "lazy", src: `items/${number}/small/0` });
    image.addEventListener("error", () => image.remove());
    const button = element("button", { type: "button", "aria-current": number === this.current() ? "true" : null },
      ...(hasPicture ? [image] : []),
      element("span", { text: id }), element("span", { class: "mark", "data-status": status, text: this.say(key) }));
    button.addEventListener("click", () => {
      this.dialog.close();
      this.open(number);
    });
    return element("li", {}, button);
  }
}
