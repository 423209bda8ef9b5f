// A work list: what runs say of each doubtful value, side by side, and what people decide.

import { element, marked } from "./elements.js";
import { ItemImage } from "./image.js";
import { at, failed, language, leadHome, message, say, start, translate } from "./page.js";
import { Recurring } from "./recurring.js";
import { ask } from "./saving.js";
import { asTyped, entered, valueInput } from "./single.js";

const POLL = 4000; // milliseconds

const image = new ItemImage(at("image"));

let entry = null; // what the server said of the item that is shown
let saving = Promise.resolve(); // the decisions on their way, one after the other
let waiting = 0; // how many these are
let isDrawing = false; // so that what is removed from the page was not left by anybody
const unsaved = new Map(); // number and field → the text that was typed and not saved, and the decision known then
const sent = new Map(); // number and field → what of it is on its way
const recurring = new Recurring({ marks, inWords, save, undecided, open: (number) => turnTo(number), showState, nothing });

function said(what) {
  at("saving").dataset.state = what;
  at("saving").textContent = what && say({ refused: "unsaved" }[what] ?? what);
}

const keyOf = (field) => `${entry.number} ${field.path}`;
const doubts = () => entry.fields.filter((field) => field.candidates);

function nothing() {
  return say(entry?.text ? "not_in_text" : "not_on_image");
}

function undecided(error) {
  failed(error, "unreachable_check");
  said("refused");
}

// Requests that save something go one after the other; what fails is told, and stays on the page.
function save(address, body, answered) {
  said("saving");
  waiting += 1;
  saving = saving.then(async () => {
    try {
      const answer = await ask(address, body);
      const isStale = Boolean(answer.stale);
      if (isStale) message("decided_elsewhere");
      await answered(answer.stale ?? answer, isStale);
      said(isStale ? "" : "saved");
    } catch (error) {
      undecided(error);
      answered(null, false);
    } finally {
      waiting -= 1;
    }
  });
  return saving;
}

function showState(state) {
  entry.state = state;
  const { done, all, undo } = state;
  at("progress").textContent = say("work_progress", { done, all });
  at("bar").max = all;
  at("bar").value = done;
  at("undo").disabled = !undo;
  const title = undo && say(undo.count > 1 ? "undo_of_many" : "undo_of", told(undo));
  at("undo").title = title ?? "";
  at("undo").setAttribute("aria-label", title ?? say("undo"));
}

const told = ({ label, kind, text, count }) => ({ label: label[language], text: inWords(kind, text) || nothing(), count });

// The text of a value, as people say it.
function inWords(kind, text) {
  return kind === "boolean" && text ? say(text === "true" ? "yes_" : "no_") : text;
}

// The letters of a text, those marked in which it differs from the others.
function marks(kind, parts) {
  if (kind === "boolean") return element("span", { class: "text", text: inWords(kind, textOf(parts)) });
  return element("span", { class: "text" }, ...marked(parts));
}

const textOf = (parts) => parts.map(([text]) => text).join("");

async function open(number, focus = true) {
  const answer = await ask(`entries/${number}`);
  message();
  entry = answer;
  image.show(entry.item, entry, `entries/${number}/pages`);
  draw();
  if (entry.next !== null) image.prefetch(`entries/${entry.next}/pages`);
  if (focus) focusOpen();
}

async function turnTo(number) {
  if (number === null || number < 0) return message(number === null ? "list_done" : "first_item");
  try {
    await saving;
    show("cards");
    await open(number);
  } catch (error) {
    failed(error, "unreachable_check");
  }
}

function draw() {
  const focused = document.activeElement?.id;
  at("id").textContent = at("id").title = entry.item;
  document.title = `${entry.item} · ${start.name}`;
  at("previous").disabled = entry.number === 0;
  isDrawing = true;
  at("doubts").replaceChildren(...doubts().map(doubt));
  isDrawing = false;
  at("settled").replaceChildren(...entry.fields.filter((field) => !field.candidates).flatMap(settled));
  at("others").hidden = doubts().length === entry.fields.length;
  const isDone = doubts().every((field) => field.decided);
  at("card-done").textContent = isDone ? say(entry.next === null ? "list_done" : "card_done") : "";
  at("go-on").hidden = entry.next === null;
  leadHome(isDone && entry.next === null);
  at("go-on").classList.toggle("first", isDone);
  showState(entry.state);
  if (focused) at(focused)?.focus({ preventScroll: true });
}

function settled(field) {
  const how = { taken: "is_accepted", checked: "is_checked", check: "is_not_listed" }[field.decision];
  return [
    element("dt", { text: field.label[language] }),
    element("dd", {}, element("span", { text: inWords(field.kind, field.value) || say("nothing") }), element("span", { class: "mark", text: say(how) })),
  ];
}

// A doubtful value: one stop for Tab with what the runs say, and one for typing.
function doubt(field, place) {
  const { decided } = field;
  const name = `name-${place}`;
  const rows = { integer: 1, number: 1, list: 3 }[field.kind] ?? (field.long ? 4 : 1);
  const input = valueInput(`typed-${place}`, `${name} another-${place}`, field, { none: say("choose"), rows });
  input.value = unsaved.get(keyOf(field))?.text ?? enteredBefore(field);
  input.addEventListener("input", () => {
    const { after = decided?.id } = unsaved.get(keyOf(field)) ?? {};
    unsaved.set(keyOf(field), { text: input.value, after });
  });
  const choices = field.candidates.map((candidate, position) => ({ ...candidate, position }));
  const buttons = choices.filter((each) => !each.is_nothing).map((candidate, digit) => button(
    field, { digit: digit + 1, how: "candidate", position: candidate.position },
    { content: marks(field.kind, candidate.parts), runs: candidate.runs, isTaken: decided && decided.text === textOf(candidate.parts) },
  ));
  const absent = choices.find((each) => each.is_nothing);
  buttons.push(button(
    field, { digit: 0, how: absent ? "candidate" : "nothing", position: absent?.position },
    { content: element("span", { text: nothing() }), runs: absent?.runs ?? [], isTaken: decided && !decided.text },
  ));
  buttons.forEach((each, position) => {
    each.id = `choice-${place}-${position}`;
    each.tabIndex = position ? -1 : 0;
  });
  const section = element("section", { class: decided ? "doubt decided" : "doubt", "aria-labelledby": name, "data-path": field.path },
    element("h3", { id: name, text: field.label[language] }),
    element("p", { class: "why", text: why(field) }),
    element("div", { class: "choices", role: "toolbar", "aria-orientation": "vertical", "aria-labelledby": name }, ...buttons),
    element("div", { class: "another" }, element("label", { id: `another-${place}`, for: input.id, text: say("another_value") }), input),
    element("p", { class: "problem", role: "status", text: isOvertaken(field) ? say("typed_meanwhile", by(field)) : "" }));
  section.addEventListener("focusout", ({ relatedTarget }) => {
    const isInOtherWindow = document.activeElement === input;
    if (!isDrawing && !isInOtherWindow && !isOvertaken(field) && !section.contains(relatedTarget)) type(field, input);
  });
  return section;
}

// Whether somebody decided a value while another one was being typed for it.
function isOvertaken(field) {
  const typed = unsaved.get(keyOf(field));
  return Boolean(typed && field.decided && typed.after !== field.decided.id);
}

const by = ({ kind, decided }) => ({ by: decided.by, text: inWords(kind, decided.text) || nothing() });

function why({ decided, reason, silent }) {
  if (decided) return `✓ ${say(decided.count > 1 ? "decided_with" : "decided_by", decided)}`;
  return [reason && say(`reason_${reason}`), silent.length && say("silent_runs", { runs: silent.join(", ") })].filter(Boolean).join(" · ");
}

function button(field, { digit, how, position }, { content, runs, isTaken }) {
  const made = element("button", { type: "button", class: "choice", "aria-pressed": String(Boolean(isTaken)), "data-digit": digit },
    element("kbd", { text: digit, "aria-hidden": "true" }), content,
    element("span", { class: "runs", text: runs.join(", ") }));
  if (digit < 10) made.setAttribute("aria-keyshortcuts", digit);
  made.addEventListener("click", () => decide(field, how === "nothing" ? { how } : { how, place: position }));
  return made;
}

// What somebody entered, here or in a table; nothing if it is what a run says.
const enteredBefore = (field) => (field.decided && !field.decided.run ? asTyped(field.kind, field.decided.value) : "");

const sectionOf = (field) => [...document.querySelectorAll(".doubt")].find((each) => each.dataset.path === field.path);

function focusOpen(after = -1) {
  const sections = [...document.querySelectorAll(".doubt")];
  const isOpen = (each) => !each.matches(".decided, .saving");
  const next = sections.find((each, place) => place > after && isOpen(each)) ?? sections.find(isOpen);
  const target = next?.querySelector(".choice") ?? (at("go-on").hidden ? at("title") : at("go-on"));
  target.focus({ preventScroll: true });
  (next ?? target).scrollIntoView({ block: "nearest" });
}

function decide(field, how) {
  const [number, key] = [entry.number, keyOf(field)];
  const section = sectionOf(field);
  const typed = unsaved.get(key);
  sent.set(key, typed?.text);
  message();
  section.classList.add("saving");
  focusOpen([...at("doubts").children].indexOf(section));
  return save(`entries/${number}/decide`, { field: field.path, after: field.decided?.id ?? null, ...how }, (answer, isStale) => {
    sent.delete(key);
    const now = answer?.fields.find(({ path }) => path === field.path);
    if (now && !isStale) {
      if (unsaved.get(key) === typed) unsaved.delete(key);
      else unsaved.get(key).after = now.decided.id; // somebody typed on
    } else if (now?.decided) {
      message("decided_by_other", by(now));
    }
    if (answer && number === entry.number) {
      const isDone = document.activeElement === at("go-on");
      entry = answer;
      draw();
      if (isDone || document.activeElement === document.body) focusOpen();
    } else if (!answer) {
      const failed = sectionOf(field);
      failed?.classList.remove("saving");
      failed?.querySelector(how.how === "typed" ? "textarea, select" : ".choice").focus();
    }
  });
}

function type(field, input) {
  const problem = input.closest(".doubt").querySelector(".problem");
  const { wrong, value } = entered(field.kind, input.value);
  problem.textContent = wrong ? say(wrong) : "";
  input.setAttribute("aria-invalid", String(Boolean(wrong)));
  if (wrong) return;
  const key = keyOf(field);
  if (!value.trim()) unsaved.delete(key);
  if (!unsaved.has(key) || sent.get(key) === input.value) return;
  decide(field, { how: "typed", value });
}

async function undo() {
  const last = entry.state.undo;
  if (!last) return;
  await save("undo", { id: last.id }, async (state, isStale) => {
    if (!state) return;
    showState(state);
    if (isStale) return;
    if (!at("clusters").hidden) await recurring.refresh();
    else if (last.number !== null) await open(last.count > 1 ? entry.number : last.number);
    message(last.count > 1 ? "undone_many" : "undone_one", told(last));
  });
}

function show(view) {
  for (const each of ["cards", "clusters"]) at(each).hidden = each !== view;
  at("by-card").setAttribute("aria-pressed", String(view === "cards"));
  at("recurring").setAttribute("aria-pressed", String(view === "clusters"));
  at("turning").hidden = view !== "cards";
}

async function showRecurring() {
  await saving;
  message();
  show("clusters");
  at("id").textContent = at("id").title = start.name;
  document.title = `${say("recurring")} · ${start.name}`;
  await recurring.refresh();
}

// What others decided appears by itself.
async function look() {
  try {
    if (document.visibilityState === "visible" && !waiting) {
      const number = entry.number;
      const answer = await ask(at("cards").hidden ? "state" : `entries/${number}`);
      if (waiting) return;
      if (at("cards").hidden) {
        if (answer.done !== entry.state.done) await recurring.refresh();
      } else if (entry.number === number) follow(answer);
    }
  } catch {
    // the next decision says that the server does not answer
  } finally {
    setTimeout(look, POLL);
  }
}

function follow(answer) {
  const before = JSON.stringify(entry.fields);
  entry = answer;
  if (JSON.stringify(answer.fields) !== before) draw();
  else showState(answer.state);
}

const isTyping = (target) => Boolean(target.closest?.("textarea, select"));
const digitOf = (event) => /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];

function pressed(event) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
  const section = target.closest?.(".doubt");
  const digit = digitOf(event);
  const isPlain = !altKey && !ctrlKey && !metaKey;
  const isUndo = (ctrlKey || metaKey) && !shiftKey && key === "z" && !isTyping(target);
  const act = (action) => {
    event.preventDefault();
    action();
  };
  if (at("cards").hidden) {
    if (isUndo) act(undo);
  } else if (altKey && key === "ArrowLeft") act(() => turnTo(entry.number - 1));
  else if (altKey && key === "ArrowRight") act(() => turnTo(entry.next));
  else if (section && digit && !ctrlKey && !metaKey && !shiftKey && (altKey || !isTyping(target))) {
    act(() => section.querySelector(`[data-digit="${digit}"]`)?.click());
  } else if (isTyping(target)) typing(event, section, act);
  else if (isUndo) act(undo);
  else if (section && ["ArrowUp", "ArrowDown"].includes(key)) act(() => step(target, key === "ArrowUp" ? -1 : 1));
  else if (section && isPlain && (key === "F2" || (key.length === 1 && key.trim()))) {
    const input = section.querySelector("textarea, select");
    input.focus(); // the key goes there
    input.select?.();
  } else if (isPlain && image.keys[key] && !target.closest?.("input")) act(image.keys[key]);
}

function typing({ key, shiftKey, isComposing, target }, section, act) {
  if (!section) return;
  const field = doubts().find((each) => each.path === section.dataset.path);
  if (key === "Enter" && !shiftKey && !isComposing) {
    act(() => {
      if (unsaved.has(keyOf(field))) type(field, target);
      else focusOpen([...at("doubts").children].indexOf(section));
    });
  } else if (key === "Escape") {
    act(() => {
      unsaved.delete(keyOf(field));
      target.value = enteredBefore(field);
      section.querySelector(".problem").textContent = "";
      section.querySelector(".choice").focus();
    });
  }
}

// One choice further down or up; what has the focus is where Tab comes back to.
function step(from, by) {
  const choices = [...from.closest(".doubt").querySelectorAll(".choice")];
  const to = choices[choices.indexOf(from) + by];
  if (!to) return;
  for (const each of choices) each.tabIndex = each === to ? 0 : -1;
  to.focus();
}

translate();
at("views").setAttribute("aria-label", say("items"));
const clicks = {
  previous: () => turnTo(entry.number - 1), next: () => turnTo(entry.next), "go-on": () => turnTo(entry.next),
  undo, recurring: showRecurring, "by-card": () => turnTo(entry.number),
};
for (const [id, click] of Object.entries(clicks)) at(id).addEventListener("click", click);
document.addEventListener("keydown", pressed);
window.addEventListener("beforeunload", (event) => {
  if (unsaved.size || waiting || recurring.isUnsaved) event.preventDefault();
});
await open(start.first);
setTimeout(look, POLL);
