// The image: zoom, drag, rotation and contrast.

const LARGEST = 20;

export class Viewer {
  // `shaped(ratio)` is called with how many times as wide as high the image is.
  constructor(view, shaped = () => {}) {
    Object.assign(this, { view, shaped });
    this.pointers = new Map();
    this.image = null;
    view.addEventListener("wheel", (event) => {
      if (!this.image) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event);
    }, { passive: false });
    view.addEventListener("pointerdown", (event) => {
      if (!this.image || event.button) return;
      this.pointers.set(event.pointerId, event);
      view.setPointerCapture(event.pointerId);
    });
    view.addEventListener("pointermove", (event) => this.moved(event));
    for (const name of ["pointerup", "pointercancel"]) {
      view.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    new ResizeObserver(() => this.fitted && this.fit()).observe(view);
  }

  show(address, label, problem) {
    const image = document.createElement("img");
    image.alt = label;
    image.draggable = false;
    image.addEventListener("load", () => {
      if (this.image === image) this.fit();
    });
    image.addEventListener("error", () => {
      if (this.image === image) this.say(problem);
    });
    image.src = address;
    this.turn = 0;
    this.ratio = null;
    this.image = image;
    this.view.replaceChildren(image);
    this.draw();
  }

  say(text, label = "") {
    const shown = document.createElement(label ? "pre" : "p");
    shown.textContent = text;
    this.image = null;
    this.view.replaceChildren(shown);
  }

  fit() {
    if (!this.image?.naturalWidth) return;
    const { naturalWidth: width, naturalHeight: height } = this.image;
    const [wide, high] = this.turn % 180 ? [height, width] : [width, height];
    if (this.ratio !== wide / high) this.shaped(this.ratio = wide / high);
    const { clientWidth, clientHeight } = this.view;
    this.scale = Math.min(clientWidth / wide, clientHeight / high);
    this.x = clientWidth / 2;
    this.y = clientHeight / 2;
    this.fitted = true;
    this.draw();
  }

  rotate() {
    this.turn = (this.turn + 90) % 360;
    this.fit();
  }

  zoom(factor, event) {
    if (!this.image?.naturalWidth) return;
    const box = this.view.getBoundingClientRect();
    const x = event ? event.clientX - box.left : box.width / 2;
    const y = event ? event.clientY - box.top : box.height / 2;
    const scale = Math.min(LARGEST, Math.max(0.02, this.scale * factor));
    this.x = x + (this.x - x) * (scale / this.scale);
    this.y = y + (this.y - y) * (scale / this.scale);
    this.scale = scale;
    this.fitted = false;
    this.draw();
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
    this.fitted = false;
    this.draw();
  }

  contrast(percent) {
    this.view.style.setProperty("--contrast", `${percent}%`);
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !this.image) return;
    const other = [...this.pointers.values()].find((each) => each.pointerId !== event.pointerId);
    if (other) {
      const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
      this.zoom(distance(event) / distance(before), {
        clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2,
      });
    } else {
      this.pan(event.clientX - before.clientX, event.clientY - before.clientY);
    }
    this.pointers.set(event.pointerId, event);
  }

  draw() {
    if (!this.image?.naturalWidth) return;
    this.image.style.transform =
      `translate(${this.x}px, ${this.y}px) rotate(${this.turn}deg) scale(${this.scale}) translate(-50%, -50%)`;
  }
}
