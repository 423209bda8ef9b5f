// The field for a single value, and what is wrong with what was typed there.

import { element } from "./elements.js";
import { decimalPoint, typed } from "./numbers.js";
import { language, say } from "./page.js";

const point = decimalPoint(language);

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

// A value as it stands in the field.
export function asTyped(kind, value) {
  if (value === null || value === undefined) return "";
  if (kind === "list") return value.join("\n");
  return kind === "number" ? String(value).replace(".", point) : String(value);
}

// What was typed, as the server takes it: `value`, or the key of what is `wrong` with it.
export function entered(kind, text) {
  if (!text.trim()) return { value: text };
  if (kind === "integer" && !/^\s*[-+]?\d+\s*$/.test(text)) return { wrong: "not_integer" };
  if (kind !== "number") return { value: text };
  const number = typed(text.replace(point, "."));
  return number === null ? { wrong: "not_number" } : { value: String(number) };
}
