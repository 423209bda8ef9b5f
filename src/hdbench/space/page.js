// Without this script every page works by its links and buttons; with it, pages follow the work on the
// server, files can be dropped, and choices apply at once.

// A page of work that goes on is asked for again, and what has changed on it is put in its place.
const put = (old, fresh) => {
  for (const part of [...fresh.children]) {
    const same = part.id ? old.querySelector(`:scope > #${part.id}`) : null;
    if (!same) continue;
    if (part.getAttribute("role") === "status") {
      if (same.textContent !== part.textContent) same.textContent = part.textContent; // read out
    } else if (same.tagName !== part.tagName || same.innerHTML !== part.innerHTML) same.replaceWith(part.cloneNode(true));
  }
  const ids = (element) => [...element.children].map((part) => part.id || part.outerHTML).join();
  if (ids(old) !== ids(fresh)) {
    const told = old.querySelector(":scope > [role=status]");
    const kept = new Map([...old.children].filter((part) => part.id).map((part) => [part.id, part]));
    for (const part of [...fresh.children]) part.replaceWith(kept.get(part.id) ?? part.cloneNode(true));
    if (told && !fresh.contains(told)) fresh.prepend(told);
    old.replaceChildren(...fresh.childNodes);
  }
};

const follow = async () => {
  const work = document.getElementById("work");
  if (!work?.hasAttribute("data-going")) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("work");
    if (!fresh) return location.reload();
    const isGoing = fresh.hasAttribute("data-going");
    put(work, fresh);
    work.toggleAttribute("data-going", isGoing);
    frames();
  } catch { /* the server does not answer just now */ }
  setTimeout(follow, 700);
};
setTimeout(follow, 300);

// A choice applies at once.
for (const form of document.querySelectorAll("[data-chooses]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

// What is sent is said where it was chosen; the page that it leads to takes this one's place.
const send = (form, button) => {
  const data = new FormData(form, button);
  const told = form.querySelector(".sent") ?? form;
  const request = new XMLHttpRequest();
  const say = (text) => { if (told !== form) told.textContent = text; };
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    say(form.dataset.sending.replace("{percent}", Math.floor((100 * loaded) / (total || 1))));
  });
  request.addEventListener("load", () => {
    if (request.status < 400) return location.assign(request.responseURL);
    let why = request.responseText;
    try { why = JSON.parse(why).detail; } catch {
      why = new DOMParser().parseFromString(why, "text/html").querySelector(".hdb-problem")?.textContent;
    }
    say(why ?? "");
    for (const each of form.elements) each.disabled = false;
  });
  request.addEventListener("error", () => {
    say(form.dataset.failed ?? "");
    for (const each of form.elements) each.disabled = false;
  });
  request.open(form.method, form.action);
  request.send(data);
  say(form.dataset.sending.replace("{percent}", 0));
  for (const each of form.elements) each.disabled = true;
};
for (const form of document.querySelectorAll("form[data-sending]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, event.submitter);
  });
  addEventListener("pageshow", () => { for (const each of form.elements) each.disabled = false; });
}
const drop = document.querySelector("[data-drop]");
if (drop) {
  const input = drop.querySelector("[type=file]");
  input.addEventListener("change", () => { if (input.files.length) send(drop); });
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) drop.classList.remove("over"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    send(drop);
  });
}

// The leaderboards stand in a frame as high as their page, and the address says what is chosen in it.
// The Hub shows a Space in a frame, too, and is told the address.
const tell = () => {
  if (parent === window) return;
  // What begins so is between the Hub and the frame, and may be secret.
  const query = [...new URLSearchParams(location.search)].filter(([name]) => !name.startsWith("__"));
  const told = { queryString: `${new URLSearchParams(query)}`, hash: location.hash.slice(1) };
  parent.postMessage(told, "https://huggingface.co");
};
const frames = () => {
  const frame = document.getElementById("board");
  if (!frame || frame.src) return;
  frame.addEventListener("load", () => {
    const scheme = document.documentElement.dataset.theme;
    if (scheme) frame.contentWindow.postMessage({ scheme }, "*");
  });
  frame.src = frame.dataset.src + location.hash;
};
addEventListener("message", ({ source, data }) => {
  const frame = document.getElementById("board");
  if (!frame || source !== frame.contentWindow) return;
  if (data.height) frame.style.height = `${data.height}px`;
  if (data.state === undefined) return;
  history.replaceState(history.state, "", `#${data.state}`);
  tell();
});
frames();
tell();
// What is chosen in the frame is chosen in the other language, too.
document.querySelector("header a[hreflang]").addEventListener("click", ({ target }) => {
  target.hash = location.hash;
});
