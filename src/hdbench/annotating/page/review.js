// The review: one value at a time is read from the image, and only then is it shown what the ground truth has.

import { element, marked } from "./elements.js";
import { ItemImage } from "./image.js";
import { at, digitPlace, failed, language, leadHome, message, say, start, translate } from "./page.js";
import { ask } from "./saving.js";
import { asTyped, entered, valueInput } from "./single.js";
import { readable } from "./values.js";

const VERDICTS = ["slip", "convention", "models_err", "undecided"];

const image = new ItemImage(at("image"));
const value = (given) => readable(given, say("nothing"));

let number = -1;
let entry = null; // what the server said of it
let busy = false;

function said(what) {
  at("saving").dataset.state = what;
  at("saving").textContent = what && say({ unreachable: "unsaved", refused: "unsaved" }[what] ?? what);
}

function input(id, labelled, current) {
  const made = valueInput(id, labelled, entry, { none: say("nothing") });
  made.value = asTyped(entry.kind, current);
  return made;
}

function isUnsaved() {
  const { state } = entry ?? {};
  if (!state) return false;
  if (state.progress === "open") return Boolean(at("reading").value.trim());
  const evidence = state.verdict?.evidence ?? "";
  return !state.confirmed && at("evidence").value !== evidence;
}

async function open(to) {
  if (busy || to < 0 || to >= start.entries.length) {
    if (!busy) message(to < 0 ? "first_item" : "last_item");
    return;
  }
  if (isUnsaved() && at("message").dataset.warned !== String(number)) {
    at("message").dataset.warned = String(number); // to leave it takes a second try
    message("not_saved_yet");
    return;
  }
  busy = true;
  try {
    const answer = await ask(`entries/${to}`);
    [number, entry] = [to, answer];
    at("message").dataset.warned = "";
    message();
    said("");
    image.show(entry.item, entry, `entries/${number}/pages`);
    draw();
  } catch (error) {
    failed(error, "unreachable_review");
  } finally {
    busy = false;
  }
}

function draw() {
  const { state } = entry;
  start.entries[number] = state.progress;
  const judged = start.entries.filter((each) => each === "judged").length;
  at("id").textContent = at("id").title = entry.item;
  document.title = `${entry.item} · ${start.name}`;
  at("progress").textContent = say("progress_review", {
    place: number + 1, all: start.entries.length, judged,
  });
  at("bar").max = start.entries.length;
  at("bar").value = judged;
  leadHome(judged === start.entries.length);
  at("question").textContent = say("what_stands_here");
  at("label").textContent = entry.label[language];
  const isRead = "reading" in state;
  for (const id of ["reading-form", "nothing", "save-reading"]) at(id).hidden = isRead;
  at("undo").disabled = !isRead;
  at("sheet").tabIndex = state.confirmed ? 0 : -1; // without a field, it is itself scrolled by keys
  at("save-verdict").hidden = !isRead || state.confirmed;
  const isJudged = state.progress === "judged";
  at("save-verdict").classList.toggle("first", !isJudged);
  at("next-open").classList.toggle("first", isJudged);
  at("next-open").hidden = !at("home-next").hidden;
  at("shown").hidden = !isRead;
  at("hint").textContent = say(state.seen ? "seen_hint" : "blind_hint");
  at("reading-place").replaceChildren(isRead ? "" : input("reading", "question label", null));
  if (isRead) drawShown(state);
  else at("reading").focus({ preventScroll: true });
}

function drawShown(state) {
  at("values").replaceChildren(
    ...[
      ["your_reading", state.reading, state.parts?.[1], ""],
      ["in_the_truth", state.truth, state.parts?.[0], ""],
      ["models_read", state.models, state.parts?.[2], `  (${say("of_models", { agreeing: state.agreeing, good: state.good })})`],
    ].flatMap(([key, given, parts, more]) => [
      element("dt", { text: say(key) }),
      element("dd", {}, ...(parts?.length ? marked(parts) : [value(given)]), more),
    ]),
  );
  at("blind").textContent = say(state.blind ? "was_blind" : "was_not_blind");
  at("confirmed").textContent = state.confirmed ? say("confirms_truth") : "";
  at("verdict-form").hidden = state.confirmed;
  const { verdict, new: right = state.reading, evidence = "" } = state.verdict ?? {};
  at("verdicts").replaceChildren(
    at("verdicts").firstElementChild,
    ...VERDICTS.map((each, place) => {
      const choice = element("input", { type: "radio", name: "verdict", value: each, checked: each === verdict, "aria-keyshortcuts": `Alt+${place + 1}` });
      choice.addEventListener("change", drawNew);
      return element("label", {}, choice, element("span", { text: say(`verdict_${each}`) }));
    }),
  );
  at("new-place").replaceChildren(input("new", "new-label", verdict === "slip" ? right : state.reading));
  at("evidence").value = evidence;
  drawNew();
  const onward = at("home-next").hidden ? "next-open" : "home-next";
  at(state.progress === "judged" ? onward : "question").focus({ preventScroll: true });
}

const chosen = () => at("verdicts").querySelector("input:checked")?.value ?? null;

function drawNew() {
  at("new-field").hidden = chosen() !== "slip";
}

// Send something, and show the state that it led to; true if it was saved.
async function send(what, body) {
  if (busy || !entry) return false;
  busy = true;
  said("saving");
  message();
  try {
    const sent = body.evidence || body.value;
    const answer = await ask(`entries/${number}/${what}`, { ...body, after: entry.state.last });
    entry.state = answer.stale ?? answer;
    draw();
    said(answer.stale ? "" : "saved");
    if (answer.stale) message(sent ? "changed_with" : "changed_elsewhere", { sent });
    return !answer.stale;
  } catch (error) {
    failed(error, "unreachable_review");
    said("refused");
    return false;
  } finally {
    busy = false;
  }
}

// What was typed, as it is sent; null if it is wrong, which is said.
function checked(text) {
  const { wrong, value: typed } = entered(entry.kind, text);
  if (!wrong) return typed;
  message(wrong);
  return null;
}

function saveReading(event) {
  event.preventDefault();
  const read = checked(at("reading").value);
  if (read === null) return;
  if (read.trim()) send("read", { value: read });
  else message("enter_or_nothing");
}

function saveVerdict(event) {
  event.preventDefault();
  const verdict = chosen();
  const right = verdict === "slip" ? checked(at("new").value) : "";
  if (right === null) return;
  if (!verdict) message("choose_verdict");
  else if (verdict === "slip" && !at("evidence").value.trim()) {
    message("evidence_needed");
    at("evidence").focus();
  }
  else send("judge", { verdict, new: right, evidence: at("evidence").value });
}

async function undo() {
  if (await send("undo", {})) message("undone_look");
}

function nextOpen() {
  const order = start.entries.map((_, place) => (number + 1 + place) % start.entries.length);
  const next = order.find((place) => start.entries[place] !== "judged");
  if (next === undefined) message("all_judged");
  else open(next);
}

const isTyping = (target) => target.closest?.("input:not([type=radio]), textarea, select");

function pressed(event) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
  if (altKey && { ArrowLeft: 1, ArrowRight: 1 }[key]) {
    event.preventDefault();
    open(number + (key === "ArrowRight" ? 1 : -1));
  } else if (altKey && !ctrlKey && !metaKey && !isTyping(target)) {
    const verdict = VERDICTS[digitPlace(event)];
    if (!verdict || at("shown").hidden || at("verdict-form").hidden) return;
    event.preventDefault();
    at("verdicts").querySelector(`[value=${verdict}]`).click();
    at("evidence").focus();
  } else if (key === "Enter" && target.matches?.("textarea") && !shiftKey && !event.isComposing) {
    event.preventDefault();
    target.form.requestSubmit();
  } else if (!isTyping(target) && !altKey && !ctrlKey && !metaKey) {
    const zoom = image.keys[key];
    if (!zoom) return;
    event.preventDefault();
    zoom();
  }
}

translate();
const clicks = {
  previous: () => open(number - 1), next: () => open(number + 1), "next-open": nextOpen, undo,
  nothing: () => send("read", { value: null }),
};
for (const [id, click] of Object.entries(clicks)) at(id).addEventListener("click", click);
at("reading-form").addEventListener("submit", saveReading);
at("verdict-form").addEventListener("submit", saveVerdict);
document.addEventListener("keydown", pressed);
window.addEventListener("beforeunload", (event) => {
  if (isUnsaved()) event.preventDefault();
});
const first = start.entries.findIndex((each) => each !== "judged");
await open(Math.max(first, 0));
