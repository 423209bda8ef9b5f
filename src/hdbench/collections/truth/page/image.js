// The image of an item, or its text, below the tools that turn its pages, zoom, rotate it and so on.

import { element, icon } from "./elements.js";
import { say } from "./page.js";
import { Viewer } from "./viewer.js";

const WIDE = 1.2; // so many times as wide as high, an image stands above what is entered, not beside it

function shaped(ratio) {
  document.body.dataset.shape = ratio > WIDE ? "wide" : "tall";
  document.body.style.setProperty("--ratio", ratio);
}

function tool(id, name, act, label) {
  const button = element("button", { id, "aria-label": label, title: label }, icon(name));
  button.addEventListener("click", act);
  return button;
}

export class ItemImage {
  constructor(root) {
    this.pages = 0;
    this.page = 0;
    this.ahead = null;
    this.view = element("div", { id: "view", tabindex: 0, role: "group" });
    const viewer = this.viewer = new Viewer(this.view, shaped);
    this.keys = {
      "+": () => viewer.zoom(1.25), "-": () => viewer.zoom(0.8), 0: () => viewer.fit(), r: () => viewer.rotate(),
    };
    const contrast = element("input", { id: "contrast", type: "range", min: 50, max: 300, step: 10, value: 100 });
    contrast.addEventListener("input", () => viewer.contrast(contrast.value));
    this.back = tool("page-back", "chevron-left", () => this.turn(-1), say("previous_page"));
    this.shown = element("span", { id: "page", role: "status" });
    this.on = tool("page-on", "chevron-right", () => this.turn(1), say("next_page"));
    this.paging = element("span", { id: "paging" }, this.back, this.shown, this.on);
    root.replaceChildren(
      element("div", { class: "tools" },
        tool("out", "zoom-out", this.keys["-"], say("zoom_out")),
        tool("in", "zoom-in", this.keys["+"], say("zoom_in")),
        tool("fit", "maximize", this.keys[0], say("fit")),
        tool("rotate", "rotate-cw", this.keys.r, say("rotate")),
        element("label", {}, element("span", { text: say("contrast") }), contrast),
        this.paging),
      this.view);
  }

  // The first page of an item; each page is at the address and its number.
  show(id, { pages, text, problem }, address) {
    Object.assign(this, { id, pages, text, problem, address, page: 0 });
    this.draw();
  }

  // The first page at an address, before it is shown. The browser takes it from there as long as this image is kept:
  // nothing of a collection stays in its cache.
  prefetch(address) {
    this.ahead = new Image();
    this.ahead.src = `${address}/0`;
  }

  turn(step) {
    const page = this.page + step;
    if (page < 0 || page >= this.pages) return;
    this.page = page;
    this.draw();
  }

  draw() {
    const { id, pages, page } = this;
    const label = say("image_of", { id });
    this.view.setAttribute("aria-label", label);
    this.paging.hidden = pages < 2;
    this.shown.textContent = say("image_page", { page: page + 1, pages });
    this.back.disabled = page === 0;
    this.on.disabled = page >= pages - 1;
    if (this.text !== null || !pages) shaped(0.8);
    if (this.text !== null) this.viewer.say(this.text, id);
    else if (pages) this.viewer.show(`${this.address}/${page}`, label, say("no_image"));
    else this.viewer.say(this.problem || say("no_image"));
  }
}
