// Where people entered different values: all of them are shown, and one is taken.

import { element, marked } from "./elements.js";
import { language } from "./page.js";
import { asPath, readable } from "./values.js";

const when = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

export class Settling {
  // `resolved(change)` when one of two changes is taken that did not know of each other.
  constructor(root, { say, form, resolved }) {
    Object.assign(this, { root, say, form, resolved });
  }

  draw({ conflicts }) {
    const focused = this.root.contains(document.activeElement) ? document.activeElement.id : "";
    this.root.replaceChildren(...conflicts.map((each) => this.conflict(each)));
    if (focused) document.getElementById(focused)?.focus();
  }

  conflict({ what, field, changes, parts }) {
    const choices = changes.map((change, place) => {
      const take = element("button", {
        type: "button", id: `take:${field}:${change.by}`, text: this.say("take_this"),
        "aria-label": this.say("take_of", { name: change.by, field: this.fieldName(what, field) }),
      });
      take.addEventListener("click", () => this.resolved({ what, field, to: change.to }));
      const by = this.say("settle_by", { by: change.by, at: when.format(new Date(change.at)) });
      return this.choice(by, change.to, parts?.[place], take);
    });
    return element("section", { class: "settle" },
      element("h3", { text: this.say("settle_title", { field: this.fieldName(what, field) }) }),
      element("div", { class: "pair" }, ...choices));
  }

  // `parts` are the letters of a text, those marked in which it differs.
  choice(title, value, parts, take) {
    const letters = parts?.length ? marked(parts) : [readable(value, this.say("nothing"))];
    const shown = element("pre", { tabindex: 0, class: "paper" }, ...letters);
    return element("div", {}, element("h4", { text: title }), shown, take);
  }

  // A field as the form calls it, such as "Persons 2 › Name" for persons[1].name.
  fieldName(what, field) {
    if (what !== "ground_truth") return this.say(what);
    let node = this.form.form;
    const names = [];
    for (const step of asPath(field)) {
      if (node?.kind === "list" && typeof step === "number") {
        names.push(this.say("entry", { field: names.pop(), number: step + 1 }));
        node = node.item;
      } else {
        node = node?.fields?.find((each) => each.name === step);
        names.push(node ? this.form.label(node) : step);
      }
    }
    return names.join(" › ") || this.say("whole_record");
  }
}
