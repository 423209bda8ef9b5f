// The page: one item at a time, its image beside its form.

import { element } from "./elements.js";
import { Form } from "./form.js";
import { ItemImage } from "./image.js";
import { ItemList } from "./list.js";
import { at, digitPlace, language, message, say, start, translate } from "./page.js";
import { ask, Refused, Saver } from "./saving.js";
import { Settling } from "./settling.js";
import { area, asField, get, placed, readable, same } from "./values.js";

const STATUSES = ["open", "done", "doubtful", "missing", "rejected"];
const CLOSED = new Set(["done", "missing", "rejected"]);
const WITHOUT_TRUTH = new Set(["missing", "rejected"]);
const COMMENT_TYPED = 700;

const HINT = `hdbench: hint closed: ${start.name}`;

const image = new ItemImage(at("image"));

let number = -1;
let item = null; // what the server said of it
let saver = null;
let local = { record: null, status: "open", comment: "" };
let commentTimer = null;
let moving = false;

function said(what, reason) {
  const isTyping = form.dirty.size > 0 || commentTimer !== null;
  const shown = what === "saved" && (isTyping || saver?.busy) ? "saving" : what;
  at("saving").dataset.state = shown;
  const text = say({ unreachable: "unsaved", refused: "unsaved" }[shown] ?? shown);
  if (at("saving").textContent !== text) at("saving").textContent = text; // said aloud once
  if (shown === "unreachable") message("unreachable");
  else if (shown === "refused") message("refused", { reason });
  else if (at("message").dataset.of === "trouble") message();
  at("message").dataset.of = ["unreachable", "refused"].includes(shown) ? "trouble" : "";
}

const form = new Form(at("form"), {
  say,
  language,
  form: start.form,
  typing: () => said(form.dirty.size || saver.busy ? "saving" : "saved"),
  suggested: (field, typed) => ask(`suggest?${new URLSearchParams({ field, typed })}`),
  changed(path, to, inPlace = false) {
    const { place, to: sent, whole } = placed(local.record, start.form, path, to);
    local.record = whole;
    if (inPlace) form.record = whole;
    else form.draw(whole);
    saver.put({ what: "ground_truth", field: asField(place), path: place, to: sent });
  },
});

const settling = new Settling(at("conflicts"), {
  say,
  form,
  async resolved({ what, field, to }) {
    await settled();
    saver.put({ what, field, path: null, to, settled: true });
    await saver.idle();
    await open(number, { again: true });
    message("settled");
  },
});

const beside = (step) => list.beside(number, step);
const list = new ItemList({ say, items: start.items, open, current: () => number, filtered: progress });

// A state from the server: where others changed something, it is shown.
function answered(state) {
  item.state = state;
  list.update(number, state);
  progress();
  drawFacts();
  if (saver.busy || saver.refused || form.dirty.size || commentTimer !== null) return;
  if (!same(local.record, state.record)) {
    local.record = state.record;
    form.draw(state.record);
  }
  local.status = state.status;
  if (local.comment !== state.comment) at("comment").value = local.comment = state.comment;
  drawStatus();
}

// Somebody was faster. Whether the change is to be made nevertheless.
async function stale({ what, path = [], to }, now, before) {
  const inner = what === "ground_truth" ? ["record", ...path] : [what];
  const outer = what === "ground_truth" ? ["record", ...area(path)] : [what];
  if (same(get(now, inner), to)) return false;
  if (same(get(now, outer), get(before, outer))) return true;
  const mine = what === "ground_truth" ? get(local, outer) : to;
  const keep = await chosen(what, outer, mine, get(now, outer));
  if (keep && outer.length < inner.length) {
    // The place in the list may be another one by now: the whole list is what was chosen.
    saver.queue[0].path = outer.slice(1);
    saver.queue[0].field = asField(outer.slice(1));
    saver.queue[0].to = mine;
  }
  if (!keep) saver.queue = saver.queue.filter((each, place) => !place || each.what !== what);
  return keep;
}

function chosen(what, path, mine, other) {
  const dialog = at("conflict");
  at("conflict-field").textContent = settling.fieldName(what, asField(path.slice(1)));
  at("mine").textContent = readable(mine, say("nothing"));
  at("other").textContent = readable(other, say("nothing"));
  dialog.showModal();
  return new Promise((resolve) => {
    const choose = (keep) => () => {
      dialog.close();
      resolve(keep);
    };
    at("take-mine").onclick = choose(true);
    at("take-other").onclick = choose(false);
  });
}

function progress() {
  if (list.onlyMine) {
    const mine = start.items.filter((each) => each[4]);
    const done = mine.filter(([, status, , stage]) => stage !== "own" || status !== "open").length;
    return counted("progress_mine", done, mine.length);
  }
  const done = start.items.filter(([, status]) => CLOSED.has(status)).length;
  counted(list.only ? "progress_only" : "progress", done, start.items.length);
}

function counted(key, done, all) {
  at("progress").textContent = say(key, { done, all, only: list.only });
  at("progress").title = say(key === "progress_mine" ? "progress_mine_hint" : "progress_hint");
  at("bar").max = all;
  at("bar").value = done;
}

function drawFacts() {
  const { how, record, stage } = item.state;
  const isOthers = stage === "others";
  for (const id of ["form", "status", "remark", "how", "now"]) at(id).hidden = isOthers;
  at("done").textContent = say(isOthers ? "go_on" : "done_next");
  at("drafts").hidden = isOthers || item.blind;
  drawStage();
  const key = how.startsWith("draft:") ? "draft" : { "corrected after audit": "audit" }[how] ?? how;
  const made = how && say(`how_${key}`, { run: how.slice("draft:".length) });
  at("how").textContent = record ? made && say("how", { how: made }) : say("no_truth_yet");
  settling.draw(item.state, local.record);
}

// What is to be known of an item that several people annotate without seeing the others' entries.
function drawStage() {
  const { stage, status } = item.state;
  const key = {
    others: "stage_others_hint",
    own: status === "open" ? "stage_own_hint" : "stage_own_done_hint",
    settling: "stage_settling_hint",
    plain: item.blind && start.drafts.length ? "stage_blind_hint" : null,
  }[stage];
  const parts = [key && say(key, { left: item.state.conflicts.length })];
  const text = parts.filter(Boolean).join(" ");
  if (at("stage").textContent !== text) at("stage").textContent = text;
}

function drawStatus() {
  for (const button of at("status").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === local.status));
  }
  at("now").textContent = say(`status_${local.status}`);
  at("now").dataset.status = local.status;
}

function setStatus(status) {
  if (!item || item.state.stage === "others" || local.status === status) return;
  form.flush();
  local.status = status;
  drawStatus();
  saver.put({ what: "status", field: "", to: status });
}

// An item that several people annotated has no status before all is settled in which they differ.
async function finish(status) {
  if (item?.state.stage === "settling") {
    await settled();
    const left = item.state.conflicts.length;
    if (left && !WITHOUT_TRUTH.has(status)) {
      message("settle_first", { left });
      return false;
    }
  }
  setStatus(status);
  return true;
}

function sendComment() {
  clearTimeout(commentTimer);
  if (commentTimer === null) return;
  commentTimer = null;
  if (at("comment").value === local.comment) said(saver.busy ? "saving" : "saved");
  else saver.put({ what: "comment", field: "", to: (local.comment = at("comment").value) });
}

// All that was entered is on the disk, or was refused.
async function settled() {
  form.flush();
  sendComment();
  await saver?.idle();
}

async function open(to, { again = false } = {}) {
  if (moving || (to === number && !again)) return;
  if (to < 0 || to >= start.items.length) {
    const keys = to < 0 ? ["first_item", "first_of_filter"] : ["last_item", "last_of_filter"];
    message(keys[list.only ? 1 : 0], { only: list.only });
    return;
  }
  moving = true;
  try {
    await settled();
    if (form.dirty.size) return; // a value that cannot be saved: its field says why
    if (saver?.refused) { // it is still in the form: to leave it takes a second try
      said("refused", saver.refused);
      saver.refused = null;
      return;
    }
    if (number >= 0 && to !== number) leave();
    const value = await ask(`items/${to}`);
    const isOther = to !== number;
    number = to;
    item = value;
    show(isOther);
  } catch (error) {
    if (error instanceof Refused) message("refused", { reason: error.message });
    else said("unreachable");
  } finally {
    moving = false;
  }
}

function leave() {
  ask("leave", {}).catch(() => {});
}

function show(isOther) {
  const [id] = start.items[number];
  saver = new Saver(number, item.state, { said, answered, stale });
  local = { record: item.state.record, status: item.state.status, comment: item.state.comment };
  at("id").textContent = id;
  at("id").title = id;
  document.title = `${id} · ${start.name}`;
  at("comment").value = local.comment;
  message();
  const wasInForm = form.hasFocus;
  form.draw(local.record, []);
  if (wasInForm && !form.hasFocus) form.focusFirst(); // its field is not in this record
  list.update(number, item.state);
  progress();
  drawFacts();
  drawStatus();
  said("saved");
  if (isOther) {
    image.show(id, item, `items/${number}/pages`);
    const next = beside(1);
    if (start.items[next]) new Image().src = `items/${next}/pages/0`;
    at("sheet").scrollTop = 0;
    history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  }
  if (item.state.how.startsWith("draft:") && start.drafts.length > 1) markDifferences();
}

async function markDifferences() {
  const shown = number;
  const value = await ask(`items/${number}/drafts`).catch(() => []);
  if (number === shown && !form.dirty.size) form.draw(local.record, value);
}

async function undo() {
  await settled();
  try {
    item.state = await ask(`items/${number}/undo`, {});
    show(false);
    message("undone");
  } catch (error) {
    if (!(error instanceof Refused)) return said("unreachable");
    await open(number, { again: true }); // another window may have undone it
    message("nothing_to_undo", { reason: error.message });
  }
}

async function fillIn(draft) {
  await settled();
  try {
    const after = item.state.head.ground_truth;
    const answer = await ask(`items/${number}/draft`, { draft, after });
    item.state = answer.stale ?? answer;
    show(false);
    if (!answer.stale) message("filled_in");
  } catch (error) {
    if (error instanceof Refused) message("refused", { reason: error.message });
    else said("unreachable");
  }
}

async function done() {
  const from = number;
  if (item?.state.stage !== "others" && !(await finish("done"))) return;
  if (start.items[beside(1)]) await open(beside(1));
  else await end();
  if (number !== from) form.focusFirst();
}

// Behind the last item: what comes next.
async function end() {
  await settled();
  if (form.dirty.size || saver.refused) return; // it is not over: its field, or the foot, says why
  const left = list.left();
  const isHere = ["127.0.0.1", "localhost"].includes(location.hostname);
  const isOver = left.length === 0;
  if (start.home) left.push(element("a", { class: isOver ? "button first" : "button", href: start.home, text: say("home") }));
  at("end-title").textContent = say(isOver ? "end_all" : "end_left");
  at("end-text").textContent = isOver && !start.home ? say(isHere ? "end_terminal" : "end_page") : "";
  at("end-left").replaceChildren(...left);
  at("end").showModal();
}

const isTyping = (target) => target.closest?.("input, textarea, select");

function pressed(event) {
  if (document.querySelector("dialog[open], [popover]:popover-open")) return;
  const free = !isTyping(event.target);
  const act = (what) => {
    event.preventDefault();
    what();
  };
  if (event.altKey && !event.ctrlKey && !event.metaKey) {
    const alt = { ArrowLeft: () => open(beside(-1)), ArrowRight: () => open(beside(1)), Enter: done }[event.key];
    const status = STATUSES[digitPlace(event)];
    if (alt) act(alt);
    else if (status && free) act(() => finish(status));
    return;
  }
  if (event.ctrlKey || event.metaKey) {
    if (event.key === "z" && free) act(undo);
    return;
  }
  if (event.key === "Escape" && !free) return event.target.blur();
  if (!free) return;
  const { viewer } = image;
  const keys = {
    n: () => open(beside(1)), p: () => open(beside(-1)), "/": () => list.show(), "?": () => at("keys").showModal(),
    ...image.keys, "[": () => image.turn(-1), "]": () => image.turn(1),
    ...(event.target === image.view && {
      ArrowLeft: () => viewer.pan(40, 0), ArrowRight: () => viewer.pan(-40, 0),
      ArrowUp: () => viewer.pan(0, 40), ArrowDown: () => viewer.pan(0, -40),
    }),
  };
  if (keys[event.key]) act(keys[event.key]);
}

function words() {
  translate();
  const keys = [
    ["help_next", "Alt ←", "Alt →"], ["help_next_done", "Alt ↵"], ["help_outside", "n", "p"],
    ["help_entries", "Alt ↑", "Alt ↓"], ["help_more_entries", "↵"], ["help_suggested", "↓", "↵"],
    ["help_undo", `${say("key_ctrl")} Z`], ["help_items", "/"], ["help_status", ...STATUSES.map((_, place) => `Alt ${place + 1}`)],
    ["help_image", "+", "−", "0", "r"], ["help_drag", "←", "→", "↑", "↓"], ["help_pages", "[", "]"],
    ["help_escape", "Esc"], ["help_help", "?"],
  ];
  at("key-list").replaceChildren(...keys.flatMap(([text, ...all]) => [
    element("dt", {}, ...all.map((key) => element("kbd", { text: key }))), element("dd", { text: say(text) }),
  ]));
}

// The browser's storage, unless somebody blocks it together with cookies.
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

function closeHint() {
  storage()?.setItem(HINT, "yes");
  at("hint").hidden = true;
  form.focusFirst();
}

function wire() {
  const clicks = {
    previous: () => open(beside(-1)), next: () => open(beside(1)), items: () => list.show(), done, undo,
    help: () => at("keys").showModal(), "close-hint": closeHint,
  };
  for (const [id, act] of Object.entries(clicks)) at(id).addEventListener("click", act);
  at("menu").addEventListener("click", (event) => event.target.closest("button") && at("menu").hidePopover());
  at("hint").hidden = Boolean(storage()?.getItem(HINT));
  for (const button of document.querySelectorAll("dialog .close")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  at("conflict").addEventListener("cancel", (event) => event.preventDefault()); // one has to be chosen
  STATUSES.forEach((status, place) => {
    const button = element("button", {
      type: "button", value: status, text: say(`status_${status}`), "aria-keyshortcuts": `Alt+${place + 1}`,
    });
    button.addEventListener("click", () => finish(status));
    at("status").append(button);
  });
  start.drafts.forEach((model, draft) => {
    const button = element("button", { type: "button", text: say("fill_in", { model }) });
    button.addEventListener("click", () => fillIn(draft));
    at("drafts").append(button);
  });
  at("comment").addEventListener("input", () => {
    clearTimeout(commentTimer);
    commentTimer = setTimeout(sendComment, COMMENT_TYPED);
    said("saving");
  });
  for (const name of ["change", "blur"]) at("comment").addEventListener(name, sendComment);
  document.addEventListener("keydown", pressed);
  addEventListener("beforeunload", (event) => {
    if (!form.dirty.size && commentTimer === null && !saver?.busy) return;
    form.flush();
    sendComment();
    event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden" || !saver) return;
    form.flush();
    sendComment();
  });
}

words();
wire();
const wanted = decodeURIComponent(location.hash.slice(1));
const unfinished = start.items.findIndex(([, status, , stage, mine]) =>
  status === "open" && (list.onlyMine ? mine && stage !== "plain" : stage !== "others"));
const named = start.items.findIndex(([id]) => id === wanted);
await open(named >= 0 ? named : unfinished >= 0 ? unfinished : beside(1));
