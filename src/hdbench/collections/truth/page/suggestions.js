// Values that other items have in a field, in a list below it.

import { element } from "./elements.js";

const PAUSE = 120; // milliseconds after the last key when values are suggested

export class Suggestions {
  // `wanted(field, typed)` resolves to values, with their identifiers where they have some.
  constructor(wanted, label) {
    this.wanted = wanted;
    this.list = element("ul", { id: "suggested", role: "listbox", "aria-label": label, hidden: true });
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      this.take(event.target.closest("[role=option]"));
    });
  }

  offer(input, field) {
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-haspopup", "listbox");
    input.setAttribute("autocomplete", "off");
    input.addEventListener("focus", () => {
      this.input = input;
      input.after(this.list);
      this.list.replaceChildren();
      this.ask(field);
    });
    input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(async () => {
        if (document.activeElement !== input) return;
        await this.ask(field);
        if (document.activeElement === input) this.show();
      }, PAUSE);
    });
    input.addEventListener("keydown", (event) => this.pressed(event));
    input.addEventListener("blur", () => this.hide());
  }

  async ask(field) {
    const { input } = this;
    const typed = input.value.trim();
    const values = await this.wanted(field, typed).catch(() => []);
    if (document.activeElement !== input || typed !== input.value.trim()) return;
    const others = values.filter(([value]) => value !== typed);
    this.list.replaceChildren(...others.map(([value, identifier], place) => element("li",
      { role: "option", id: `suggested-${place}`, "data-value": value, "aria-selected": "false" },
      value, identifier ? element("small", { text: ` ${identifier}` }) : "")));
    if (!others.length) this.hide();
  }

  show() {
    this.list.hidden = !this.list.children.length;
  }

  hide() {
    this.list.hidden = true;
    this.choose(null);
  }

  choose(option) {
    for (const each of this.list.children) each.setAttribute("aria-selected", String(each === option));
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input?.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  take(option) {
    if (!option) return;
    this.input.value = option.dataset.value;
    this.hide();
    for (const name of ["input", "change"]) this.input.dispatchEvent(new Event(name, { bubbles: true }));
    clearTimeout(this.timer); // what was taken is not to be suggested
  }

  pressed(event) {
    const { key, altKey, ctrlKey, metaKey, isComposing, target } = event;
    if (altKey || ctrlKey || metaKey || isComposing) return;
    const isAtEnd = target.selectionStart === target.value.length;
    if (this.list.hidden && (key !== "ArrowDown" || !isAtEnd)) return;
    const options = [...this.list.children];
    const chosen = this.list.querySelector("[aria-selected=true]");
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step && options.length) {
      this.show();
      this.choose(options[options.indexOf(chosen) + step] ?? options.at(step > 0 ? 0 : -1));
    } else if (key === "Enter" && chosen) {
      this.take(chosen);
    } else if (key === "Escape") {
      this.hide();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
