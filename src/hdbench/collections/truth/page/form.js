// The form of a record: what can be typed and chosen, and what it means in the record.

import { element } from "./elements.js";
import { decimalPoint, isNumber, parse, typed, write } from "./numbers.js";
import { Suggestions } from "./suggestions.js";
import { asField, begun, get, isObject, readable, same } from "./values.js";

const TYPED = 700; // milliseconds after the last key when a value is sent
const SIGNS = [["move_up", "↑"], ["move_down", "↓"], ["remove", "×"]];
const SIGNS_IN_LINE = [["move_up", "←"], ["move_down", "→"], ["remove", "×"]];

// A list of plain values: they stand in a line.
const isInLine = ({ item }) => !["object", "list"].includes(item.kind) && !item.long;

// A field of one line that is as high as its text.
function grow(input) {
  const fit = () => {
    input.style.height = "auto";
    input.style.height = `${input.scrollHeight + input.offsetHeight - input.clientHeight}px`;
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  input.addEventListener("input", () => {
    if (input.value.includes("\n")) input.value = input.value.replace(/\s*\n\s*/g, " ");
  });
  if (CSS.supports("field-sizing", "content")) return;
  input.addEventListener("input", fit);
  requestAnimationFrame(fit);
}

export class Form {
  // `changed(path, to)` for each change, `typing()` for each key, `suggested(field, typed)` for values.
  constructor(root, { say, language, form, changed, typing, suggested }) {
    Object.assign(this, { root, say, language, form, changed, typing });
    this.point = decimalPoint(language);
    this.dirty = new Map();
    this.record = null;
    this.drafts = [];
    this.suggestions = new Suggestions(suggested, say("suggestions"));
    root.addEventListener("submit", (event) => event.preventDefault());
  }

  draw(record, drafts = this.drafts) {
    const focused = this.hasFocus ? document.activeElement.id : "";
    Object.assign(this, { record, drafts });
    this.drop();
    this.root.replaceChildren(...this.fields(this.form, []));
    if (focused) document.getElementById(focused)?.focus();
  }

  get hasFocus() {
    return this.root.contains(document.activeElement);
  }

  // So that typing goes into a field: outside of fields, single keys do something else.
  focusFirst() {
    const first = this.root.querySelector("input, textarea, select") ?? this.root.querySelector("button.add");
    first?.focus();
  }

  // Send what was typed and not yet sent.
  flush() {
    for (const { commit } of [...this.dirty.values()]) commit(true);
  }

  drop() {
    for (const { timer } of this.dirty.values()) clearTimeout(timer);
    this.dirty.clear();
  }

  label(node) {
    return node.label?.[this.language] || node.name;
  }

  fields(node, path) {
    const value = get(this.record, path);
    const known = new Set(node.fields.map((each) => each.name));
    const others = isObject(value) ? Object.keys(value).filter((key) => !known.has(key)) : [];
    const more = others.map((name) => ({ name, kind: "any", empty: null }));
    return [...node.fields, ...more].map((each) => this.field(each, [...path, each.name], this.label(each)));
  }

  field(node, path, label, hidden = false) {
    const value = get(this.record, path);
    const isNothing = value === null || value === undefined;
    if (node.kind === "object" && (isNothing || (isObject(value) && !Array.isArray(value)))) {
      return element("fieldset", { class: "object" }, element("legend", { text: label }), ...this.fields(node, path));
    }
    if (node.kind === "list" && (isNothing || Array.isArray(value))) return this.list(node, path, label, value ?? []);
    return this.leaf(node, path, label, value, hidden);
  }

  list(node, path, label, values) {
    const rows = values.map((_, place) => this.row(node, path, label, values, place));
    const add = element("button", { type: "button", class: "add", id: `add:${asField(path)}`, text: `+ ${this.say("add", { field: label })}` });
    add.addEventListener("click", () => {
      this.rebuild(path, (now) => [...now, begun(node.item)]);
      this.firstIn([...path, values.length]);
    });
    const lengths = new Set(this.drafts.map((each) => get(each.record, path)?.length ?? 0));
    const notes = lengths.size > 1 ? this.differences(path) : [];
    return element("fieldset", { class: isInLine(node) ? "list in-line" : "list" },
      element("legend", { text: label }), ...notes, ...rows, add);
  }

  row(node, path, label, values, place) {
    const at = [...path, place];
    const numbered = this.say("entry", { field: label, number: place + 1 });
    const acts = {
      move_up: () => this.move(path, place, place - 1),
      move_down: () => this.move(path, place, place + 1),
      remove: () => this.rebuild(path, (now) => now.toSpliced(place, 1)),
    };
    const off = { move_up: place === 0, move_down: place === values.length - 1 };
    const buttons = (isInLine(node) ? SIGNS_IN_LINE : SIGNS).map(([name, sign]) => {
      const text = this.say(name, { field: numbered });
      const id = `${name}:${asField(at)}`;
      const made = element("button", { type: "button", id, class: name, disabled: Boolean(off[name]), text: sign, "aria-label": text, title: text });
      made.addEventListener("click", () => {
        acts[name]();
        if (name === "remove") return document.getElementById(`add:${asField(path)}`)?.focus();
        const to = [...path, name === "move_up" ? place - 1 : place + 1];
        const same = document.getElementById(`${name}:${asField(to)}`);
        if (!same || same.disabled) this.firstIn(to);
        else same.focus();
      });
      return made;
    });
    const row = element("div", { class: "row" }, this.field(node.item, at, numbered, true), element("span", { class: "buttons" }, ...buttons));
    row.addEventListener("keydown", (event) => this.pressed(event, node, path, place, values.length));
    if (node.item.kind === "text" && isInLine(node)) row.addEventListener("paste", (event) => this.pasted(event, path, place));
    return row;
  }

  move(path, from, to) {
    this.rebuild(path, (now) => now.toSpliced(from, 1).toSpliced(to, 0, now[from]));
  }

  // Keys within an entry of a list.
  pressed(event, node, path, place, count) {
    const { key, altKey, ctrlKey, metaKey, isComposing, target } = event;
    const to = altKey && !ctrlKey && !metaKey ? { ArrowUp: place - 1, ArrowDown: place + 1 }[key] : undefined;
    const isPlain = isInLine(node) && target.matches("input, textarea") && !altKey && !ctrlKey && !metaKey && !isComposing;
    const isEmptied = key === "Backspace" && target.value === "";
    if (to !== undefined) {
      if (to >= 0 && to < count) this.move(path, place, to);
      this.firstIn([...path, Math.min(Math.max(to, 0), count - 1)]);
    } else if (isPlain && key === "Enter") {
      document.getElementById(`add:${asField(path)}`).click();
    } else if (isPlain && isEmptied) {
      this.rebuild(path, (now) => now.toSpliced(place, 1));
      if (count > 1) this.firstIn([...path, Math.max(place - 1, 0)]);
      else document.getElementById(`add:${asField(path)}`).focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Several values, separated by semicolons or on lines of their own, are as many entries.
  pasted(event, path, place) {
    const { value, selectionStart, selectionEnd } = event.target;
    const text = value.slice(0, selectionStart) + event.clipboardData.getData("text") + value.slice(selectionEnd);
    const parts = text.split(/[;\n]/).map((each) => each.trim()).filter(Boolean);
    if (parts.length < 2) return;
    event.preventDefault();
    this.rebuild(path, (now) => now.toSpliced(place, 1, ...parts));
    this.firstIn([...path, place + parts.length - 1]);
  }

  rebuild(path, made) {
    this.flush();
    this.changed(path, made(get(this.record, path) ?? []));
  }

  firstIn(path) {
    const start = asField(path);
    const all = [...this.root.querySelectorAll("input, textarea, select, button.add")];
    all.find((each) => {
      const id = each.id.replace(/^\w+:/, "");
      return id === start || id.startsWith(`${start}.`) || id.startsWith(`${start}[`);
    })?.focus();
  }

  leaf(node, path, label, value, hidden) {
    const kind = isObject(value) ? "json" : node.kind === "any" ? "text" : node.kind;
    const id = `f:${asField(path)}`;
    const problem = element("p", { class: "problem", id: `problem:${id}`, role: "alert" });
    const control = { choice: () => this.choice(node, id, value), boolean: () => this.boolean(id, value) }[kind]?.()
      ?? this.text(node, kind, id, value);
    control.input.setAttribute("aria-describedby", problem.id);
    if (hidden) control.input.setAttribute("aria-label", label);
    this.listen(control, id, path, problem);
    const name = element(hidden ? "span" : "label", hidden ? { class: "name" } : { class: "name", for: id, text: label });
    const notes = this.differences(path);
    const isSuggested = node.kind === "text" && !control.long;
    if (isSuggested) this.suggestions.offer(control.input, asField(path));
    return element("div", { class: control.long ? "field whole" : "field" }, ...(hidden ? [] : [name]), control.shown, problem, ...notes);
  }

  listen(control, id, path, problem) {
    const commit = (left) => {
      const found = this.dirty.get(id);
      if (found) clearTimeout(found.timer);
      const read = control.read();
      if (read.error) {
        if (!left) return;
        problem.textContent = this.say(read.error);
        control.input.setAttribute("aria-invalid", "true");
        return;
      }
      this.dirty.delete(id);
      problem.textContent = "";
      control.input.removeAttribute("aria-invalid");
      const before = get(this.record, path);
      if (!same(before, read.value)) this.changed(path, read.value, true);
      else this.typing();
    };
    control.input.addEventListener("input", () => {
      clearTimeout(this.dirty.get(id)?.timer);
      this.dirty.set(id, { timer: setTimeout(() => commit(false), TYPED), commit });
      this.typing();
    });
    for (const name of ["change", "blur"]) {
      control.input.addEventListener(name, () => this.dirty.has(id) && commit(true));
    }
  }

  text(node, kind, id, value) {
    const shown = kind === "json" ? write(value, 2) : value === null || value === undefined ? "" : String(value);
    const read = (text) => {
      if (kind === "json") {
        try {
          return { value: text.trim() ? parse(text) : node.empty };
        } catch {
          return { error: "not_json" };
        }
      }
      if (!text.trim()) return { value: node.empty };
      if (kind === "integer") return /^\s*[-+]?\d+\s*$/.test(text) ? { value: typed(text) } : { error: "not_integer" };
      if (kind === "number" || isNumber(value)) {
        const number = typed(text.replace(this.point, "."));
        if (number !== null) return { value: number };
        if (kind === "number") return { error: "not_number" };
      }
      return { value: text };
    };
    const long = kind === "json" || (kind === "text" && (node.long || shown.includes("\n")));
    if (!long) {
      const mode = { integer: "numeric", number: "decimal" }[kind];
      const input = mode ? element("input", { id, inputmode: mode, autocomplete: "off" }) : element("textarea", { id, rows: 1, class: "grows" });
      input.value = shown;
      if (!mode) grow(input);
      return { input, shown: input, read: () => read(input.value) };
    }
    const input = element("textarea", { id, wrap: "off", rows: 3, spellcheck: "false" });
    input.value = shown;
    const numbers = element("pre", { class: "numbers", "aria-hidden": "true" });
    const count = () => {
      const lines = Math.max(input.value.split("\n").length, 3);
      input.rows = lines;
      numbers.textContent = Array.from({ length: lines }, (_, line) => line + 1).join("\n");
    };
    input.addEventListener("input", count);
    count();
    return { input, long, shown: element("div", { class: "long" }, numbers, input), read: () => read(input.value) };
  }

  choice(node, id, value) {
    return this.options(id, value, node.choices.map((each) => [each, String(each)]));
  }

  boolean(id, value) {
    return this.options(id, value, [[true, this.say("yes_")], [false, this.say("no_")]]);
  }

  options(id, value, given) {
    const isThere = value === null || value === undefined || given.some(([each]) => same(each, value));
    const choices = [[null, ""], ...given, ...(isThere ? [] : [[value, String(value)]])];
    const input = element("select", { id }, ...choices.map(([, text], place) => element("option", { value: place, text: text || "–" })));
    input.value = choices.findIndex(([each]) => same(each, value));
    return { input, shown: input, read: () => ({ value: choices[input.value][0] }) };
  }

  // What the models said, where they differ.
  differences(path) {
    const values = this.drafts.map((each) => get(each.record, path));
    if (values.length < 2 || values.every((each) => same(each, values[0]))) return [];
    const lines = this.drafts.map((each, place) =>
      element("li", { text: this.say("draft_of", { model: each.model, value: readable(values[place], this.say("nothing")) }) }));
    return [element("div", { class: "differ" }, element("strong", { text: this.say("models_differ") }), element("ul", {}, ...lines))];
  }
}
