// The list of items, with search and filter.

import { element } from "./form.js";
import { ask } from "./saving.js";

const SHOWN = 200;
const TYPED = 250;
const FILTERS = ["all", "open", "done", "doubtful", "missing", "rejected", "conflict"];

export class ItemList {
  constructor({ say, items, open, current }) {
    Object.assign(this, { say, items, open, current });
    this.dialog = document.getElementById("list");
    this.search = document.getElementById("search");
    this.filter = document.getElementById("filter");
    for (const name of FILTERS) {
      const key = ["all", "conflict"].includes(name) ? `filter_${name}` : `status_${name}`;
      this.filter.append(element("option", { value: name, text: say(key) }));
    }
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.draw(), TYPED);
    });
    this.filter.addEventListener("change", () => this.draw());
  }

  update(number, { status, conflicts }) {
    this.items[number][1] = status;
    this.items[number][2] = conflicts.length > 0;
  }

  show() {
    this.dialog.showModal();
    this.search.focus();
    this.search.select();
    this.draw();
  }

  async draw() {
    const wanted = this.search.value.trim();
    const numbers = wanted
      ? await ask(`search?q=${encodeURIComponent(wanted)}`).catch(() => null)
      : this.items.map((_, number) => number);
    if (!numbers || wanted !== this.search.value.trim()) return;
    const filter = this.filter.value;
    const found = numbers.filter((number) => {
      const [, status, conflict] = this.items[number];
      return filter === "all" || (filter === "conflict" ? conflict : status === filter);
    });
    // Around the item that is open, as there may be ten thousand.
    const start = wanted || filter !== "all" ? 0 : Math.max(0, Math.min(this.current() - 20, found.length - SHOWN));
    const shown = found.slice(start, start + SHOWN);
    document.getElementById("found").textContent = found.length > shown.length
      ? this.say("found_more", { count: found.length, shown: shown.length })
      : this.say("found", { count: found.length });
    document.getElementById("found-items").replaceChildren(...shown.map((number) => this.entry(number)));
    this.dialog.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  entry(number) {
    const [id, status, conflict] = this.items[number];
    const text = conflict ? this.say("filter_conflict") : this.say(`status_${status}`);
    const button = element("button", { type: "button", "aria-current": number === this.current() ? "true" : null },
      element("span", { text: id }), element("span", { class: "mark", "data-status": status, text }));
    button.addEventListener("click", () => {
      this.dialog.close();
      this.open(number);
    });
    return element("li", {}, button);
  }
}
