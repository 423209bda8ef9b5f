// The list of items, with search and filter.

import { element } from "./form.js";
import { ask } from "./saving.js";

const SHOWN = 200;
const TYPED = 250;
const FILTERS = ["all", "open", "done", "doubtful", "missing", "rejected", "conflict"];
const ASSIGNED = ["mine", "settling"]; // shown only if several people annotate the same items

export class ItemList {
  constructor({ say, items, open, current, filtered }) {
    Object.assign(this, { say, items, open, current });
    this.dialog = document.getElementById("list");
    this.search = document.getElementById("search");
    this.filter = document.getElementById("filter");
    this.isAssigned = items.some(([, , , stage, mine]) => mine || stage !== "plain");
    for (const name of this.isAssigned ? [...FILTERS, ...ASSIGNED] : FILTERS) {
      const key = ["all", "conflict", ...ASSIGNED].includes(name) ? `filter_${name}` : `status_${name}`;
      this.filter.append(element("option", { value: name, text: say(key) }));
    }
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
    return this.filter.value === "all" ? "" : this.filter.selectedOptions[0].text;
  }

  // The item before or behind one, of those that the filter lets through.
  beside(number, step) {
    let found = number + step;
    while (this.items[found] && !this.passes(found)) found += step;
    return found;
  }

  passes(number) {
    const [, status, conflict, stage, mine] = this.items[number];
    const others = { all: true, conflict, mine, settling: stage === "settling" };
    return others[this.filter.value] ?? (stage !== "others" && status === this.filter.value);
  }

  update(number, { status, conflicts, stage }) {
    this.items[number].splice(1, 3, status, conflicts.length > 0, stage);
  }

  // For whom assigned items wait.
  async waiting() {
    const counts = await ask("waiting").catch(() => ({}));
    const names = Object.keys(counts).sort().map((name) => `${name} (${counts[name]})`);
    document.getElementById("waiting").textContent = names.length ? this.say("waiting", { names: names.join(", ") }) : "";
  }

  show() {
    if (this.isAssigned) this.waiting();
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
    const found = numbers.filter((number) => this.passes(number));
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
    const [id, status, conflict, stage] = this.items[number];
    const key = { others: "stage_others", settling: "filter_settling" }[stage]
      ?? (conflict ? "filter_conflict" : `status_${status}`);
    const text = this.say(key);
    const button = element("button", { type: "button", "aria-current": number === this.current() ? "true" : null },
      element("span", { text: id }), element("span", { class: "mark", "data-status": status, text }));
    button.addEventListener("click", () => {
      this.dialog.close();
      this.open(number);
    });
    return element("li", {}, button);
  }
}
