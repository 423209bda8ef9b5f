// Values that come back: one decision for all of them, in whatever spelling.

import { element } from "./elements.js";
import { at, language, message, say } from "./page.js";
import { ask } from "./saving.js";
import { entered, valueInput } from "./single.js";

const POLL = 1000; // milliseconds
const START = { how: "0", text: "", spellings: [], items: [] };

export class Recurring {
  // `save(address, body, answered)` saves something; `open(number)` opens a card.
  constructor({ marks, inWords, save, undecided, open, showState, nothing }) {
    Object.assign(this, { marks, inWords, save, undecided, open, showState, nothing });
    this.cluster = null; // what the server said of the one that is shown
    this.choices = new Map(); // number → what was chosen and typed for it, and what is not ticked, as long as it is not saved
    at("together").addEventListener("submit", (event) => this.decide(event));
    at("together").addEventListener("input", () => this.chosen());
    at("more-cards").addEventListener("click", () => this.more());
  }

  // The list as it is now, and the one of it that was shown, or else the first.
  async refresh() {
    try {
      const { ready, problem, clusters, more } = await ask("clusters");
      if (at("clusters").hidden) return;
      at("listed-more").hidden = !more;
      if (!ready && !problem) setTimeout(() => this.refresh(), POLL);
      this.tell(problem || (ready ? (clusters.length ? "" : say("no_recurring")) : say("looking_for_recurring")));
      const focused = document.activeElement?.closest("#list") && document.activeElement.dataset.number;
      at("list").replaceChildren(...clusters.map((each) => this.listed(each)));
      at("list").querySelector(`[data-number="${focused}"]`)?.focus();
      // One that others decided meanwhile stays as long as something is typed for it.
      const shown = clusters.find(({ number }) => number === this.cluster?.number)
        ?? (this.choices.get(this.cluster?.number)?.text.trim() ? this.cluster : clusters[0]);
      for (const number of this.choices.keys()) {
        if (![shown, ...clusters].some((each) => each?.number === number)) this.choices.delete(number);
      }
      at("cluster").hidden = !shown;
      if (shown) await this.show(shown.number);
      else this.cluster = null;
    } catch (error) {
      this.undecided(error);
    }
  }

  tell(text) {
    if (at("listed-text").textContent !== text) at("listed-text").textContent = text;
  }

  listed({ number, label, kind, text, spellings, left }) {
    const button = element("button", { type: "button", "data-number": number },
      element("span", { class: "name", text: label[language] }),
      element("span", { class: "text", text: this.inWords(kind, text) }),
      element("span", { class: "mark", text: say(spellings > 1 ? "cluster_spellings" : "cluster_left", { left, count: spellings }) }));
    button.addEventListener("click", async () => {
      message();
      try {
        await this.show(number);
        at("cluster-title").focus();
      } catch (error) {
        this.undecided(error);
      }
    });
    return element("li", {}, button);
  }

  async show(number) {
    this.draw(await ask(`clusters/${number}/0`));
  }

  draw(cluster) {
    // What was chosen stays, as what others decided can come at any moment.
    const { how, text, spellings, items } = this.choices.get(cluster.number) ?? START;
    const focused = document.activeElement?.id;
    this.without = new Set(items); // the items that are not ticked
    this.cluster = cluster;
    this.showState(cluster.state);
    for (const each of at("list").querySelectorAll("button")) {
      if (Number(each.dataset.number) === cluster.number) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    at("cluster-title").textContent = cluster.label[language];
    at("cluster-text").textContent = say("cluster_text", cluster);
    const rows = { list: 3 }[cluster.kind] ?? (cluster.long ? 4 : 1);
    const input = valueInput("for-all", "cluster-title label-for-all", cluster, { none: say("choose"), rows });
    input.value = text;
    const another = this.way("typed", element("span", { id: "label-for-all", text: say("another_value") }), how);
    input.addEventListener("input", () => { another.querySelector("input").checked = true; });
    at("spellings").replaceChildren(
      ...cluster.spellings.map((each, place) => this.spelling(each, place, how, !spellings.includes(place))),
      element("div", { class: "spelling" }, another, input),
      element("div", { class: "spelling" }, this.way("nothing", element("span", { text: this.nothing() }), how)),
      element("p", { id: "for-all-problem", class: "problem", role: "status" }));
    at("shown-cards").replaceChildren(...cluster.cards.map((each) => this.card(each)));
    at("more-cards").hidden = cluster.cards.length >= cluster.all;
    this.count();
    if (focused) at(focused)?.focus({ preventScroll: true });
  }

  // One answer to what all of them are.
  way(value, content, chosen) {
    const radio = element("input", { type: "radio", id: `how-${value}`, name: "how", value, checked: value === chosen });
    return element("label", { class: "way" }, radio, content);
  }

  spelling({ parts, text, left }, place, chosen, isIncluded) {
    const include = element("input", {
      type: "checkbox", id: `include-${place}`, checked: isIncluded, disabled: !left, "data-spelling": place, "aria-label": say("include_spelling", { text: this.inWords(this.cluster.kind, text) }),
    });
    return element("div", { class: "spelling" },
      this.way(String(place), this.marks(this.cluster.kind, parts), chosen),
      element("label", { class: "include" }, include, element("span", { class: "mark", text: say("cluster_left", { left }) })));
  }

  card({ number, item, spelling, is_picture: isPicture, decided }) {
    const opened = element("button", { type: "button", class: "open", "aria-label": say("open_card", { id: item }) },
      isPicture ? element("img", { src: `entries/${number}/small/0`, alt: "", loading: "lazy" }) : element("span", { text: item }));
    opened.addEventListener("click", () => this.open(number));
    const ticked = element("input", { type: "checkbox", id: `tick-${number}`, checked: !decided && !this.without.has(number), disabled: Boolean(decided) });
    ticked.addEventListener("change", () => {
      if (ticked.checked) this.without.delete(number);
      else this.without.add(number);
      this.chosen();
    });
    const words = (text) => this.inWords(this.cluster.kind, text) || this.nothing();
    const said = decided ? `✓ ${words(decided.text)} · ${decided.by}` : words(this.cluster.spellings[spelling].text);
    return element("li", { "data-spelling": spelling, "data-number": number, class: decided ? "decided" : "" }, opened,
      element("label", {}, ticked, element("span", { text: item })),
      element("span", { class: "text", text: said }));
  }

  async more() {
    const { cluster } = this;
    try {
      const further = await ask(`clusters/${cluster.number}/${cluster.cards.length}`);
      cluster.cards.push(...further.cards);
      at("shown-cards").append(...further.cards.map((each) => this.card(each)));
      at("more-cards").hidden = !further.cards.length || cluster.cards.length >= cluster.all;
    } catch (error) {
      this.undecided(error);
    }
  }

  get withoutSpellings() {
    return [...at("spellings").querySelectorAll("[data-spelling]:not(:checked)")].map((each) => Number(each.dataset.spelling));
  }

  chosen() {
    const how = new FormData(at("together")).get("how");
    const choice = { how, text: at("for-all").value, spellings: this.withoutSpellings, items: [...this.without] };
    this.choices.set(this.cluster.number, choice);
    this.count();
  }

  get isUnsaved() {
    return [...this.choices.values()].some(({ text }) => text.trim());
  }

  // How many values are ticked and open.
  get ticked() {
    const without = this.withoutSpellings;
    const { spellings, cards } = this.cluster;
    const left = spellings.reduce((sum, each, place) => sum + (without.includes(place) ? 0 : each.left), 0);
    return left - cards.filter((each) => !each.decided && this.without.has(each.number) && !without.includes(each.spelling)).length;
  }

  count() {
    const count = this.ticked;
    at("save-for").textContent = count ? say(count === 1 ? "save_for_one" : "save_for", { count }) : say("nothing_ticked");
    at("save-for").disabled = !count;
    const without = this.withoutSpellings;
    for (const each of at("shown-cards").children) each.classList.toggle("out", without.includes(Number(each.dataset.spelling)));
  }

  decide(event) {
    event.preventDefault();
    const { cluster } = this;
    const how = new FormData(at("together")).get("how");
    const input = at("for-all");
    const typed = entered(cluster.kind, input.value);
    const wrong = how === "typed" && (typed.wrong ?? (!typed.value.trim() && "choose_value"));
    at("for-all-problem").textContent = wrong ? say(wrong) : "";
    input.setAttribute("aria-invalid", String(Boolean(wrong)));
    if (wrong) return input.focus();
    const decision = { typed: { how, value: typed.value }, nothing: { how } }[how] ?? { how: "candidate", place: Number(how) };
    const text = { typed: input.value, nothing: this.nothing() }[how] ?? this.inWords(cluster.kind, cluster.spellings[how].text);
    const choice = this.choices.get(cluster.number);
    const expects = this.ticked;
    message();
    this.save(`clusters/${cluster.number}/decide`, {
      ...decision, expects, without_spellings: this.withoutSpellings, without_items: [...this.without],
    }, async (answer, isStale) => {
      if (!answer) return;
      if (isStale) return this.draw(answer);
      if (this.choices.get(cluster.number) === choice) this.choices.delete(cluster.number);
      this.showState(answer);
      await this.refresh();
      message(expects === 1 ? "saved_for_one" : "saved_for", { count: expects, label: cluster.label[language], text });
      (at("cluster").hidden ? at("undo") : at("cluster-title")).focus();
    });
  }
}
