// What forms alone cannot do: files that are dropped, and runs that continue while they are looked at.

let sending = 0; // places that files are being sent from

for (const drop of document.querySelectorAll("[data-upload]")) {
  const input = drop.querySelector("input");
  const sendChosen = () => send(drop, [...input.files].map((file) => [file, file.name]));
  input.addEventListener("change", sendChosen);
  if (input.files.length) sendChosen(); // before this script was there
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    send(drop, (await Promise.all(entries.map((entry) => filesOf(entry, "")))).flat());
  });
}

async function filesOf(entry, folder) {
  if (entry.isFile) {
    const file = await new Promise((found, failed) => entry.file(found, failed));
    return [[file, folder + file.name]];
  }
  const reader = entry.createReader(), entries = [];
  for (let some; (some = await new Promise((found, failed) => reader.readEntries(found, failed))).length;) entries.push(...some);
  // The folder that was dropped is the collection's; folders in it are items with several pages.
  const inside = folder === "" && entry.fullPath === `/${entry.name}` ? "./" : `${entry.name}/`;
  return (await Promise.all(entries.map((inner) => filesOf(inner, inside)))).flat();
}

async function send(drop, files) {
  const status = drop.querySelector("[role=status]"), alert = drop.querySelector("[role=alert]");
  const refused = [];
  let to = "";
  alert.hidden = true;
  sending += 1;
  for (const [number, [file, name]] of files.entries()) {
    status.textContent = `${number + 1} / ${files.length} · ${file.name}`;
    if (file.name.startsWith(".")) continue;
    try {
      const answer = await fetch(`${drop.dataset.upload}?name=${encodeURIComponent(name.replace("./", ""))}`, { method: "POST", body: file });
      const said = await answer.json();
      if (said.error) refused.push(said.error);
      to = said.to ?? to;
    } catch (error) {
      refused.push(`${file.name}: ${error.message}`);
    }
  }
  sending -= 1;
  status.textContent = "";
  if (refused.length) {
    alert.textContent = refused.slice(0, 5).join(" · ");
    alert.hidden = false;
  }
  if (refused.length < files.length) {
    // What was refused, or is still being sent, stays in sight: the rest of the page is renewed around it.
    if (refused.length || sending) await renew(drop);
    else location.href = to || location.href.replace(/\/(scans|truth|runs)\/\w+$/, "/$1");
  }
}

// What was chosen is shown at once in records beside it; the last choice wins.
let previews = 0;
for (const form of document.querySelectorAll("form[data-preview]")) {
  form.addEventListener("input", async () => {
    const asked = (previews += 1), shown = form.querySelector(".preview");
    const answer = await fetch(`${form.dataset.preview}?${new URLSearchParams(new FormData(form))}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(shown.id);
    if (asked === previews && fresh) shown.replaceChildren(...fresh.childNodes);
  });
}

async function renew(kept) {
  const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  for (const name of ["h1", ".stands", ".path", ".next", "#runs", "#work", "#taken"]) {
    const [old, fresh] = [document.querySelector(name), page.querySelector(name)];
    if (old && fresh && !old.contains(kept) && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(fresh));
  }
}

setInterval(async () => {
  const live = document.querySelector("[data-live]");
  // Nothing is taken away from under a hand or a reader.
  if (live && !document.hidden && !live.contains(document.activeElement) && !live.querySelector("details[open]")) await renew().catch(() => {});
}, 3000);
