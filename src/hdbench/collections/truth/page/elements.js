// Elements of a page, made of data: whatever text these hold stays text.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") made.textContent = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// The letters of a text, those marked in which it differs from others.
export const marked = (parts) => parts.map(([text, differs]) => (differs ? element("mark", { text }) : text));

// An icon of Lucide, which screen readers skip.
export const icon = (name) => element("span", { class: `icon ${name}`, "aria-hidden": "true" });
