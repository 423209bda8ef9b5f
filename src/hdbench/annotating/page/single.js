// The field for a single value, and what is wrong with what was typed there.

import { element } from "./form.js";
import { typed } from "./numbers.js";
import { say } from "./page.js";

// A choice where the schema has one; `labelled` names the elements that label it.
export function valueInput(id, labelled, { kind, choices }, { none, rows = 2 }) {
  const options = kind === "boolean" ? [["true", say("yes_")], ["false", say("no_")]]
    : kind === "choice" ? choices.map((choice) => [String(choice), String(choice)]) : null;
  const made = options
    ? element("select", { id }, element("option", { value: "", text: none }),
      ...options.map(([value, text]) => element("option", { value, text })))
    : element("textarea", { id, rows });
  if (["integer", "number"].includes(kind)) made.inputMode = kind === "integer" ? "numeric" : "decimal";
  made.setAttribute("aria-labelledby", labelled);
  return made;
}

// The key of what is said of a number that is none, which the server does not take.
export function mistyped(kind, text) {
  if (!text.trim()) return null;
  if (kind === "integer" && !/^\s*[-+]?\d+\s*$/.test(text)) return "not_integer";
  return kind === "number" && typed(text) === null ? "not_number" : null;
}
