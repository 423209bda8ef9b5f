"use strict";
// Without this script every item is shown, and the form is not.
(() => {
  const form = document.getElementById("filter");
  const output = form.querySelector("output");
  const items = [...document.querySelectorAll(".item")].map((element) => ({
    element,
    text: [...element.querySelectorAll("bdi")].map((each) => each.textContent).join("\n")
      .normalize("NFC").toLowerCase(),
    errors: [...element.querySelectorAll("tr[data-error]")].map((row) => row.dataset),
  }));

  function update() {
    const wanted = Object.fromEntries(new FormData(form));
    const text = wanted.text.normalize("NFC").toLowerCase().trim();
    let count = 0;
    for (const { element, text: own, errors } of items) {
      const fits =
        (!wanted.wrong || element.dataset.wrong === "yes") &&
        (!wanted.status || element.dataset.status === wanted.status) &&
        (!(wanted.field || wanted.error) || errors.some((row) =>
          (!wanted.field || row.field === wanted.field) &&
          (!wanted.error || row.error === wanted.error))) &&
        own.includes(text);
      element.hidden = !fits;
      count += fits;
    }
    output.textContent = output.dataset.text
      .replace("{count}", count).replace("{items}", items.length);
  }

  form.addEventListener("input", update);
  form.addEventListener("reset", () => setTimeout(update));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  update();
})();
