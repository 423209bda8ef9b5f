// Single values, one at a time beside the image: read blind, or chosen between what models or people say.

import { Clock } from "./clock.js";
import { element, marked } from "./elements.js";
import { ItemImage } from "./image.js";
import { at, digitPlace, failed, language, leadHome, message, say, start, translate } from "./page.js";
import { ask, Refused } from "./saving.js";
import { asTyped, entered, valueInput } from "./single.js";

const AFTER = {
  verify: "hdbench trust decide PLAN", control: "hdbench trust control OUT", work: "hdbench trust finish OUT", audit: "hdbench build FOLDER",
};
const POLL = 4000; // milliseconds

const image = new ItemImage(at("image"));
const clock = new Clock();

let state = null; // what the server said of where the reading stands
let number = -1; // of the value that is shown
let value = null; // what the server said of it
let busy = false;
let ahead = null; // the value that is probably next, and its answer
let poll = null;
const left = new Map(); // number → what was typed and not saved, when another value was opened
const spent = new Map(); // number → seconds on screen, as long as it is not saved

function said(what) {
  at("saving").dataset.state = what;
  at("saving").textContent = what && say({ refused: "unsaved" }[what] ?? what);
}

const isUnsaved = () => Boolean(value && at("reading").value !== shown(value.own));

// What somebody entered, as it stands in the field.
const shown = (own) => (value.in_form ? "" : asTyped(value.kind, own?.what === "value" ? own.value : null));

function keepTyped() {
  if (isUnsaved()) left.set(number, at("reading").value);
}

function keepTime() {
  if (value) spent.set(number, (spent.get(number) ?? 0) + clock.take());
}

async function follow(next) {
  clearTimeout(poll);
  const before = state;
  state = next;
  if (state.phase === "reading") {
    await open(state.next[0]);
    if (before && before.stage !== state.stage) message("next_stage");
    else if (before && before.phase !== "reading") message("more_to_read");
    return;
  }
  value = null;
  drawBetween();
  if (state.phase === "ready") goOn();
  else poll = setTimeout(look, POLL);
}

async function look() {
  try {
    const next = await ask("state");
    if (!value) await follow(next); // otherwise a value was opened meanwhile
  } catch (error) {
    if (error instanceof Refused) drawProblem(error.message);
    poll = setTimeout(look, POLL);
  }
}

async function goOn() {
  if (!state) return look();
  clearTimeout(poll);
  state.phase = "ready"; // also where others could still read
  drawBetween();
  try {
    await follow(await ask("go-on", { stage: state.stage }));
  } catch (error) {
    drawProblem(error instanceof Refused ? error.message : say("unreachable_check"));
  }
}

async function open(to) {
  clearTimeout(poll);
  const answer = await (ahead?.number === to ? ahead.answer : ask(`values/${to}`));
  [number, value] = [to, answer];
  ahead = null;
  clock.start();
  message();
  image.show(value.item, value, `values/${number}/pages`);
  draw();
  lookAhead();
}

// The next value and its image are there before they are asked for.
function lookAhead() {
  const next = state.next.find((each) => each !== number);
  if (next === undefined) return;
  const answer = ask(`values/${next}`);
  ahead = { number: next, answer };
  answer.then(
    (found) => found.pages && image.prefetch(`values/${next}/pages`),
    () => { ahead = ahead?.answer === answer ? null : ahead; },
  );
}

const named = (own) => ({ unreadable: say("cannot_read"), damaged: say("is_damaged") }[own.what]
  ?? ((own.text ?? shown(own)) || absent()));

const absent = () => say(value.text === null ? "not_on_image" : "not_in_text");

function draw() {
  at("image").hidden = at("record").hidden = false;
  at("between").hidden = true;
  at("id").textContent = at("id").title = value.item;
  const label = value.label[language];
  document.title = `${label} · ${start.name}`;
  const place = value.own ? value.place : state.place;
  const all = Math.max(state.all, place);
  const { stage, stages } = state;
  const key = stages > 1 ? "value_progress_stage" : "value_progress";
  at("progress").textContent = say(key, { place, all, stage: stage + 1, stages });
  at("bar").hidden = false;
  at("bar").max = all;
  at("bar").value = place - 1;
  at("label").textContent = label;
  at("expected").textContent = expected();
  const [by, mine] = [value.own?.by, start.annotator];
  at("before").textContent = value.own
    ? say(by && by !== mine ? "decided_before" : "saved_before", { by, value: named(value.own) }) : "";
  drawChoices();
  at("keep").hidden = !value.own;
  at("nothing").textContent = absent();
  const rows = { integer: 1, number: 1, list: 3 }[value.kind] ?? (value.long ? 6 : value.candidates ? 1 : 2);
  const field = valueInput("reading", "label expected", value, { none: say("choose"), rows });
  field.value = left.get(number) ?? shown(value.own);
  left.delete(number);
  at("reading-place").replaceChildren(field);
  drawInForm();
  at("back").disabled = previous() === null;
  (at("choices").querySelector("button") ?? (value.in_form ? at("label") : field)).focus({ preventScroll: true });
}

// What no single text can hold is entered in the form of its record.
function drawInForm() {
  const { in_form: isInForm, item } = value;
  for (const id of ["reading-place", "save", "expected"]) at(id).hidden = isInForm;
  const address = start.home && `${start.home}annotate/${encodeURIComponent(start.annotator)}/#${encodeURIComponent(item)}`;
  at("in-form").replaceChildren(...(!isInForm ? [] : address
    ? [element("a", { href: address, text: say("to_form") })] : [say("only_in_form")]));
}

const textOf = (parts) => parts.map(([text]) => text).join("");
const inWords = (text) => (value.kind === "boolean" && text ? say(text === "true" ? "yes_" : "no_") : text);

// What is said of the value, where that may be seen: a key takes it.
function drawChoices() {
  const { candidates, reason, silent = [], beside = [] } = value;
  at("unreadable").hidden = at("damaged").hidden = Boolean(candidates);
  at("later").hidden = !candidates;
  at("choices").hidden = !candidates?.length;
  at("keys").textContent = candidates ? say("keys_decide") : say("keys_hint", { keys: "Alt+1, Alt+2, Alt+3" });
  at("why").textContent = [reason && say(`reason_${reason}`), silent.length && say("silent_runs", { runs: silent.join(", ") })]
    .filter(Boolean).join(" · ");
  at("choices").replaceChildren(...(candidates ?? []).map(({ parts, names, is_nothing: isNothing }, place) => {
    const text = isNothing ? [absent()] : value.kind === "boolean" ? [inWords(textOf(parts))] : marked(parts);
    const made = element("button", { type: "button", class: "choice", "aria-keyshortcuts": place + 1, tabindex: place ? -1 : 0 },
      element("kbd", { text: place + 1, "aria-hidden": "true" }), element("span", { class: "text" }, ...text),
      element("span", { class: "names", text: names.map((name) => name || say("is_truth")).join(", ") }));
    made.addEventListener("click", () => save("value", null, place));
    return made;
  }));
  at("beside").replaceChildren(...beside.flatMap(([label, text, decision]) => [
    element("dt", { text: label[language] }),
    element("dd", {}, element("span", { text: text || say("nothing") }),
      element("span", { class: "mark", text: say({ taken: "is_accepted", checked: "is_checked", check: "is_not_listed" }[decision]) })),
  ]));
}

// The form that a value should have, as the schema describes it.
function expected() {
  const { kind, description, format, pattern, entry } = value;
  return [
    description,
    format === "date" ? say("expect_date") : say({
      integer: "expect_integer", number: "expect_number", boolean: "expect_boolean",
      choice: "expect_choice", list: "expect_list",
    }[kind] ?? "expect_text"),
    entry?.kind === "choice" && say("expect_entries", { choices: entry.choices.join(", ") }),
    format && format !== "date" && say("expect_format", { format }),
    pattern && say("expect_pattern", { pattern }),
  ].filter(Boolean).join("\n");
}

// The value that was saved before, as long as it can be corrected.
function previous() {
  if (value) return value.own ? value.before : state.last;
  return ["waiting", "done"].includes(state?.phase) ? state.last : null;
}

async function leave(go) {
  if (busy) return;
  busy = true;
  try {
    keepTime();
    await go();
  } catch (error) {
    failed(error, "unreachable_check");
  } finally {
    busy = false;
  }
}

const back = () => previous() !== null && leave(() => {
  keepTyped();
  return open(previous());
});

const later = () => value?.candidates && leave(async () => {
  keepTyped();
  await follow(await ask(`state?after=${number}`));
});

// Leave a value as it was saved before.
const keep = () => leave(async () => follow(await ask("state")));

async function save(what, read = null, place = null) {
  if (busy || !value) return;
  busy = true;
  said("saving");
  message();
  keepTime();
  let outcome = "refused";
  try {
    const seconds = Math.round(spent.get(number) * 10) / 10;
    const answer = await ask(`values/${number}/read`, { what, value: read, place, seconds, after: value.after });
    spent.delete(number);
    outcome = answer.stale ? "" : "saved";
    const { stage } = state;
    if (answer.stale?.stage === stage) {
      keepTyped();
      state = answer.stale;
      await open(number);
      message("read_elsewhere");
      return;
    }
    await follow(answer.stale ?? answer);
    if (answer.stale) message("stage_over");
  } catch (error) {
    failed(error, "unreachable_check");
  } finally {
    said(outcome);
    busy = false;
  }
}

function saveValue(event) {
  event.preventDefault();
  if (!value) return;
  const { wrong, value: read } = entered(value.kind, at("reading").value);
  if (wrong) message(wrong);
  else if (read.trim()) save("value", read);
  else message("enter_or_choose");
}

// What is shown where there is nothing to read: between the stages, and at the end.
function drawBetween() {
  const { phase, waiting } = state;
  const command = start.home ? "" : AFTER[state.name] ?? "";
  const others = waiting ? say("others_text", { count: waiting }) : "";
  const title = {
    waiting: say("others_title"), done: say(waiting ? "done_with_others" : "done_title"),
  }[phase] ?? say("learning_title");
  const text = {
    waiting: others, done: [others, command ? say("done_text") : ""].filter(Boolean).join("\n"),
  }[phase] ?? say("learning_text");
  drawNotice(title, text, phase === "waiting" ? say("go_on_without") : "");
  at("learning").hidden = phase !== "ready";
  at("command").hidden = phase !== "done" || !command;
  leadHome(phase === "done");
  at("command").firstElementChild.textContent = command;
}

function drawProblem(reason) {
  leadHome(false);
  drawNotice(say("problem_title"), reason, say("try_again"));
  at("learning").hidden = at("command").hidden = true;
}

// What has not changed is not said again by a screen reader.
function drawNotice(title, text, button) {
  at("image").hidden = at("record").hidden = at("bar").hidden = true;
  at("between").hidden = false;
  at("back").disabled = previous() === null;
  at("progress").textContent = "";
  at("id").textContent = at("id").title = document.title = start.name;
  if (at("between-text").textContent !== text) at("between-text").textContent = text;
  at("go-on").hidden = !button;
  at("go-on").textContent = button;
  if (at("between-title").textContent === title) return;
  at("between-title").textContent = title;
  at("between-title").focus();
}

const isTyping = (target) => target.closest?.("input, textarea, select");

function pressed(event) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
  if (altKey && key === "ArrowLeft") {
    event.preventDefault();
    back();
  } else if (altKey && key === "ArrowRight") {
    event.preventDefault();
    later();
  } else if (!value) {
    return;
  } else if (key === "Escape" && isTyping(target)) {
    at("label").focus();
  } else if (key === "Enter" && target.id === "reading" && !shiftKey && !event.isComposing) {
    event.preventDefault();
    target.form.requestSubmit();
  } else if (altKey && !ctrlKey && !metaKey && !isTyping(target)) {
    const button = ["nothing", "unreadable", "damaged"][digitPlace(event)];
    if (!button) return;
    event.preventDefault();
    at(button).click();
  } else if (!isTyping(target) && !altKey && !ctrlKey && !metaKey) {
    const act = taking(key, target) ?? (key === "0" && value.candidates ? () => save("value") : image.keys[key]);
    if (!act) return;
    event.preventDefault();
    act();
  }
}

// Where something may be chosen: a digit takes it, arrows go from one to the other, a letter begins another value.
function taking(key, target) {
  const choices = [...at("choices").children];
  if (!choices.length) return null;
  if (/^[1-9]$/.test(key)) return choices[key - 1] && (() => choices[key - 1].click());
  const place = choices.indexOf(target);
  const next = place >= 0 && { ArrowDown: choices[place + 1], ArrowUp: choices[place - 1] }[key];
  if (next) {
    return () => {
      for (const each of choices) each.tabIndex = each === next ? 0 : -1;
      next.focus();
    };
  }
  if (value.in_form || key !== "F2" && (key.length > 1 || !/\p{L}/u.test(key) || image.keys[key])) return null;
  return () => {
    const field = at("reading");
    field.focus();
    if (key !== "F2" && field.matches("textarea")) field.setRangeText(key, 0, field.value.length, "end");
  };
}

translate();
const clicks = {
  back, later, keep, nothing: () => save("value"), unreadable: () => save("unreadable"), damaged: () => save("damaged"), "go-on": goOn,
};
for (const [id, click] of Object.entries(clicks)) at(id).addEventListener("click", click);
at("reading-form").addEventListener("submit", saveValue);
document.addEventListener("keydown", pressed);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") keepTime();
  else clock.start();
});
window.addEventListener("beforeunload", (event) => {
  if (isUnsaved() || left.size) event.preventDefault();
});
await look();
