// Values within a record, by paths such as ["entries", 0, "name"].

import { Spelled } from "./numbers.js";

export const isObject = (value) => value !== null && typeof value === "object" && !(value instanceof Spelled);

// A value's own: a field may be called "constructor".
const own = (value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined);

export const get = (value, path) => path.reduce(own, value);

export function set(value, path, to) {
  if (!path.length) return to;
  const [step, ...rest] = path;
  const copy = typeof step === "number" ? [...(value ?? [])] : { ...value };
  // `defineProperty`, as a field may be called __proto__.
  Object.defineProperty(copy, step, {
    value: set(own(copy, step), rest, to), configurable: true, enumerable: true, writable: true,
  });
  return copy;
}

export const asField = (path) =>
  path.map((step, place) => (typeof step === "number" ? `[${step}]` : (place ? "." : "") + step)).join("");

export const asPath = (field) =>
  [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, place, key]) => key ?? Number(place));

export function same(one, other) {
  return JSON.stringify(sorted(one ?? null)) === JSON.stringify(sorted(other ?? null));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
}

export function readable(value, nothing) {
  if (value === null || value === undefined || value === "") return nothing;
  if (!isObject(value)) return String(value);
  return outline(value, nothing).join("\n") || nothing;
}

// An object or list as lines, those of what is in it further to the right.
function outline(value, nothing) {
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = isList ? `${Number(key) + 1}.` : `${key}:`;
    if (!isObject(inner) || !Object.keys(inner).length) return [`${name} ${readable(inner, nothing)}`];
    const [first, ...rest] = outline(inner, nothing);
    const further = rest.map((line) => `\u2003${line}`);
    return isList ? [`${name} ${first}`, ...further] : [name, `\u2003${first}`, ...further];
  });
}

// What an object begins with: all required fields, empty.
export const begun = (node) => (node.kind === "object"
  ? Object.fromEntries(node.fields.filter((each) => each.required).map((each) => [each.name, each.empty]))
  : node.empty);

const isPlain = (step) => typeof step === "number" || /^[^.[\]]+$/.test(step);

// What has to be changed so that a path gets a value: objects on the way that are not there yet are
// begun, and a name that no path can spell is reached through the object that has it.
export function placed(record, form, path, to) {
  let [node, at] = [form, record];
  let whole = record;
  let first = null;
  for (let depth = 0; depth < path.length; depth++) {
    if (!isObject(at)) {
      first ??= depth;
      whole = set(whole, path.slice(0, depth), at = begun(node));
    } else if (!isPlain(path[depth])) {
      first ??= depth;
    }
    at = own(at, path[depth]);
    node = typeof path[depth] === "number"
      ? node.item ?? { kind: "any", empty: null }
      : node.fields?.find((each) => each.name === path[depth]) ?? { kind: "any", empty: null };
  }
  whole = set(whole, path, to);
  const place = path.slice(0, first ?? path.length);
  return { place, to: get(whole, place), whole };
}

// The outermost list on a path, as positions in a list mean something only together with it.
export function area(path) {
  const list = path.findIndex((step) => typeof step === "number");
  return list < 0 ? path : path.slice(0, list);
}
