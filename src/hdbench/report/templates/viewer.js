
// A picture opens in a window of its own, in which it is zoomed, moved and turned.
const dialog = document.getElementById("viewer");
const view = document.getElementById("view");
const viewer = new Viewer(view);
const STEP = 40;
const acts = {
  "+": () => viewer.zoom(1.25), "-": () => viewer.zoom(0.8), 0: () => viewer.fit(), r: () => viewer.rotate(),
  ArrowLeft: () => viewer.pan(STEP, 0), ArrowRight: () => viewer.pan(-STEP, 0),
  ArrowUp: () => viewer.pan(0, STEP), ArrowDown: () => viewer.pan(0, -STEP),
  Escape: () => dialog.close(),
};

document.addEventListener("click", (event) => {
  const picture = event.target.closest(".picture")?.querySelector("img");
  if (picture) {
    document.getElementById("viewer-name").textContent = picture.alt;
    dialog.showModal();
    view.focus();
    viewer.show(picture.src, picture.alt, "");
  }
  acts[event.target.closest("#viewer button")?.dataset.key]?.();
});
dialog.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in acts)) return;
  event.preventDefault();
  acts[event.key]();
});
