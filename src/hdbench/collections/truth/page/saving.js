// Changes on their way to the disk, one after the other.

import { parse, write } from "./numbers.js";

const RETRY = 1500;

export class Refused extends Error {
  constructor(reason, isKept = false) {
    super(reason);
    this.isKept = isKept; // it can be saved later: there is no room, or the folder is away
  }
}

let listed = ""; // what the numbers in addresses stand for, as the server said at the start

export async function ask(address, body) {
  const headers = { "accept-language": document.documentElement.lang }; // of what the server refuses
  if (listed) headers["hdbench-listed"] = listed;
  const options = body === undefined ? { headers } : {
    method: "POST",
    keepalive: address === "leave", // it is sent though the page is closed
    headers: { ...headers, "content-type": "application/json" },
    body: write(body),
  };
  const response = await fetch(address, options);
  if ([400, 507].includes(response.status)) {
    throw new Refused((await response.json()).error, response.status === 507);
  }
  if (!response.ok) throw new Error(String(response.status));
  const answer = parse(await response.text());
  listed ||= answer?.listed ?? "";
  return answer;
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

// `said(what, reason)` is called with "saving", "saved", "unreachable" or "refused"; `answered(state)`
// with each new state; `stale(change, state)` resolves to whether the change is still wanted.
export class Saver {
  constructor(item, state, { said, answered, stale }) {
    Object.assign(this, { item, state, said, answered, stale });
    this.queue = [];
    this.running = null;
    this.refused = null; // why the last change was not saved
  }

  get busy() {
    return this.queue.length > 0;
  }

  put(change) {
    const waiting = this.queue.slice(this.running ? 1 : 0);
    const again = waiting.find((each) => each.what === change.what && each.field === change.field);
    if (again && again === waiting.at(-1)) again.to = change.to;
    else this.queue.push(change);
    this.refused = null;
    this.said("saving");
    this.running ??= this.run();
  }

  async idle() {
    while (this.running) await this.running;
  }

  async run() {
    while (this.queue.length) {
      const change = this.queue[0];
      const { what, field, to, settled } = change;
      const after = this.state.head[what];
      try {
        const answer = await ask(`items/${this.item}/change`, { what, field, to, after, settled });
        const state = answer.stale ?? answer;
        const keep = answer.stale && (await this.stale(change, state, this.state));
        this.state = state;
        if (!keep) this.queue.shift();
        this.answered(state);
      } catch (error) {
        if (error instanceof Refused && !error.isKept) {
          this.refused = error.message;
          this.queue.shift();
        } else {
          this.said(error.isKept ? "refused" : "unreachable", error.message);
          await pause(RETRY);
        }
      }
    }
    this.running = null;
    if (this.refused === null) this.said("saved");
    else this.said("refused", this.refused);
  }
}
