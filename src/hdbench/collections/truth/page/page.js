// What all pages have: what the server sends at the start, and texts in the reader's language.

import { element, icon } from "./elements.js";
import { ask, Refused } from "./saving.js";

export const at = (id) => document.getElementById(id);
export const start = await ask("start").catch((error) => {
  document.body.replaceChildren(element("p", { role: "alert", text: error.message }));
  throw error;
});
export const language = start.language
  ?? Object.keys(start.texts).find((name) => navigator.language.startsWith(name)) ?? "en";
// A server with a home has the same address when it is started anew.
const known = (key) => (start.home && key.startsWith("unreachable") ? "unreachable_home" : key);
export const say = (key, values = {}) =>
  start.texts[language][known(key)].replace(/\{(\w+)\}/g, (_, name) => written(values[name] ?? ""));
const written = (value) => (typeof value === "number" ? value.toLocaleString(language) : value);

export function message(key, values) {
  at("message").textContent = key ? say(key, values) : "";
}

// Why something was not done; `unreachable` is the key of what is said without an answer.
export function failed(error, unreachable) {
  if (error instanceof Refused) message("refused", { reason: error.message });
  else message(unreachable);
}

// The place, from 0 on, of the digit that was pressed, by its key: with Alt, it may make another sign.
export const digitPlace = (event) => Number(/^Digit([1-9])$/.exec(event.code)?.[1]) - 1;

// Texts in the reader's language, and a link to the page that led to this one.
export function translate() {
  document.documentElement.lang = language;
  for (const each of document.querySelectorAll("[data-text]")) each.textContent = say(each.dataset.text);
  for (const each of document.querySelectorAll("[data-label]")) each.setAttribute("aria-label", say(each.dataset.label));
  if (!start.home) return;
  const text = element("span", { class: "wide", text: say("home") });
  document.querySelector("header").prepend(element("a", { id: "home", class: "button", href: start.home }, icon("house"), text));
}

// The link to the collection, where nothing is left to do.
export function leadHome(isOver) {
  at("home-next").hidden = !isOver || !start.home;
  at("home-next").href = start.home ?? "";
}
