// The time spent on an item: from one sign of life to the next, unless that is a long pause.

const PAUSE = 120_000; // milliseconds
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel"];

export class Clock {
  constructor() {
    this.start();
    for (const name of SIGNS) addEventListener(name, () => this.note(), { passive: true });
  }

  start() {
    this.spent = 0;
    this.last = performance.now();
  }

  note() {
    const now = performance.now();
    if (now - this.last <= PAUSE) this.spent += now - this.last;
    this.last = now;
  }

  // The seconds since the start, which is now.
  take() {
    this.note();
    const seconds = this.spent / 1000;
    this.start();
    return seconds;
  }
}
