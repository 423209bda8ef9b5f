(() => {
  // Gradio takes its language from the browser: here it is the one that the visitor chose.
  const { language, languages, own } = TEXTS;
  Object.defineProperty(navigator, "language", { get: () => language });
  Object.defineProperty(navigator, "languages", { get: () => [language] });

  // What axe-core finds in Gradio's elements.
  const DROPS = "button[aria-label]:has(input[type=file])";
  const look = (node) => {
    if (!node.querySelectorAll) return;
    // A drop zone is named by what stands in it.
    const drops = [...node.querySelectorAll(DROPS), node.closest(DROPS)];
    for (const each of drops) each?.removeAttribute("aria-label");
    const cards = [...node.querySelectorAll(".hdb-english"), node.closest(".hdb-english")];
    for (const each of cards) if (each) each.lang = "en";
    // Lines of code that are longer than a phone is wide are scrolled to with the keyboard, too.
    for (const each of node.querySelectorAll(".hdb-english pre")) each.tabIndex = 0;
  };
  new MutationObserver((changes) => {
    for (const change of changes) change.addedNodes.forEach(look);
  }).observe(document, { subtree: true, childList: true });

  // A list opens when it is clicked or with an arrow key, not when Tab passes it.
  const LIST = "input[role=listbox], input[role=combobox]";
  let tabbed = false;
  addEventListener("keydown", (event) => {
    tabbed = event.key === "Tab";
    // Gradio opens a list at any key, also at the one with which it is left.
    if (event.target.matches?.(LIST) && ["Tab", "Shift"].includes(event.key)) {
      event.stopPropagation();
    }
  }, true);
  addEventListener("pointerdown", () => { tabbed = false; }, true);
  addEventListener("focus", (event) => {
    if (tabbed && event.target.matches?.(LIST)) event.stopPropagation();
  }, true);

  // Arrow keys move between tabs, as in the ARIA pattern.
  addEventListener("keydown", (event) => {
    const tab = event.target.closest?.("[role=tab]");
    if (!tab) return;
    const tabs = [...tab.closest("[role=tablist]").querySelectorAll("[role=tab]")].filter((each) =>
      each.checkVisibility({ visibilityProperty: true }));
    const at = tabs.indexOf(tab);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    next.click();
    next.focus();
  });

  // `element` is where they go. Both choices are part of the address.
  const link = (name, value, told, current) => {
    const at = () => {
      const to = new URL(location);
      if (value) to.searchParams.set(name, value);
      else to.searchParams.delete(name);
      return to.href;
    };
    const made = Object.assign(document.createElement("a"), { href: at(), textContent: told });
    made.addEventListener("click", () => { made.href = at(); }); // it may have changed
    if (current) made.setAttribute("aria-current", "true");
    return made;
  };
  const group = (label, links) => {
    const made = document.createElement("p");
    made.append(`${label}: `, ...links.flatMap((each) => [each, " "]));
    return made;
  };
  window.hdbenchSettings = (element) => {
    const theme = new URLSearchParams(location.search).get("__theme") ?? "";
    const choices = Object.entries(languages).map(([each, name]) => {
      const made = link("lang", each, name, each === language);
      made.lang = each;
      return made;
    });
    const themes = ["", "light", "dark"].map((each) =>
      link("__theme", each, own[`page_theme_${each || "system"}`], each === theme));
    const settings = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = own.page_settings;
    settings.append(summary, group(own.page_language, choices), group(own.page_theme, themes));
    element.replaceChildren(settings);
  };

  // The leaderboards stand in a frame as high as their page, and the address says what is chosen in
  // it: a link that opens the same again. The Hub shows a Space in a frame, too, and is told.
  let chosen = location.hash.slice(1);
  const board = () => document.querySelector(".hdb-board iframe");
  const address = () => {
    const frame = board();
    if (!frame) return;
    const shown = frame.checkVisibility();
    const to = new URL(location);
    for (const [name, value] of new URLSearchParams(frame.dataset.link)) {
      if (shown && value) to.searchParams.set(name, value);
      else to.searchParams.delete(name);
    }
    to.hash = shown ? chosen : "";
    history.replaceState(history.state, "", to);
    if (parent === window) return;
    // What begins so is between the Hub and the frame, and may be secret.
    const query = [...to.searchParams].filter(([name]) => !name.startsWith("__"));
    const told = { queryString: `${new URLSearchParams(query)}`, hash: to.hash.slice(1) };
    parent.postMessage(told, "https://huggingface.co");
  };
  addEventListener("message", ({ source, data }) => {
    const frame = board();
    if (!frame || source !== frame.contentWindow) return;
    if (data.height) frame.style.height = `${data.height}px`;
    if (data.state !== undefined) chosen = data.state;
    address();
  });
  document.addEventListener("load", ({ target }) => {
    if (target !== board()) return;
    const scheme = new URLSearchParams(location.search).get("__theme");
    if (scheme) target.contentWindow.postMessage({ scheme }, "*");
    if (chosen && !target.dataset.placed) { // once: the frame is loaded again by it
      target.dataset.placed = "true";
      target.contentWindow.location.replace(`${target.src}#${chosen}`);
    }
    address();
  }, true);
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[role=tab]")) requestAnimationFrame(address);
  });

  // The tab that the address names, when its fields have what the address says.
  window.hdbenchOpen = () => {
    const named = new URLSearchParams(location.search).get("tab");
    const tab = document.getElementById(`${named}-button`);
    if (tab?.matches("[role=tab]")) tab.click();
  };
  window.hdbenchIsOpen = (id) => document.getElementById(id)?.checkVisibility() === true;

  // Past the title and the tabs, to what is in the open tab.
  window.hdbenchSkip = (element) => {
    const skip = Object.assign(document.createElement("a"), {
      href: "#", className: "hdb-skip", textContent: own.page_skip,
    });
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      const panels = [...document.querySelectorAll("[role=tabpanel]")];
      const open = panels.find((each) => each.checkVisibility());
      open?.setAttribute("tabindex", "-1");
      open?.focus();
    });
    element.replaceChildren(skip);
  };

  // What screen readers say of what appears, and where a visitor who started something is taken.
  window.hdbenchAnnouncer = (element) => {
    element.setAttribute("role", "status");
    let started = false;
    document.addEventListener("click", (event) => {
      started ||= event.target.closest(".hdb-starts") !== null;
    });
    const look = (shown) => {
      const top = shown.getBoundingClientRect().top;
      if (!started || (top >= 0 && top < innerHeight / 2)) return;
      const place = shown.closest(".hdb-result");
      if (!place) return;
      place.tabIndex = -1;
      place.focus({preventScroll: true});
      place.scrollIntoView({block: "start"});
    };
    const tell = (node) => {
      const told = node.closest?.("[data-announce]") ?? node.querySelector?.("[data-announce]");
      if (!told) return;
      element.textContent = told.dataset.announce;
      look(told);
      started = false;
    };
    const problem = "[role=alert].hdb-problem";
    const show = (node) => {
      const shown = node.matches?.(problem) ? node : node.querySelector?.(problem);
      if (shown) shown.scrollIntoView({block: "nearest"});
    };
    new MutationObserver((changes) => {
      for (const change of changes) {
        if (change.type === "attributes") tell(change.target);
        else change.addedNodes.forEach((node) => { tell(node); show(node); });
      }
    }).observe(document.body, {subtree: true, childList: true, attributeFilter: ["data-announce"]});
  };
})();
