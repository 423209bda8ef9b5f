// JSON whose numbers stay as they were written: JavaScript would make 12345678901234567890 end in 7000, and 1.0 a 1.

const MARK = `number ${String(Math.random()).slice(2)} `; // begins no text, as nobody can guess it

const TOKEN = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

// A number that JavaScript would write in another way.
export class Spelled {
  constructor(text) {
    this.text = text;
    Object.freeze(this);
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return MARK + this.text;
  }
}

export const isNumber = (value) => typeof value === "number" || value instanceof Spelled;

const numberOf = (text) => (String(Number(text)) === text ? Number(text) : new Spelled(text));

export function parse(text) {
  const marked = text.replace(TOKEN, (token) =>
    (token[0] === '"' || String(Number(token)) === token ? token : JSON.stringify(MARK + token)));
  return JSON.parse(marked, (_, value) =>
    (typeof value === "string" && value.startsWith(MARK) ? new Spelled(value.slice(MARK.length)) : value));
}

export function write(value, indent) {
  return JSON.stringify(value, null, indent).replaceAll(new RegExp(`"${MARK}([^"]*)"`, "g"), "$1");
}

// What a language writes before decimals.
export function decimalPoint(language) {
  const parts = new Intl.NumberFormat(language).formatToParts(1.5);
  return parts.find((part) => part.type === "decimal").value;
}

// What somebody typed, in the spelling of JSON, which has no +5, 007, .5 or 5. — null if it is not a number.
export function typed(text) {
  const plain = text.trim().toLowerCase();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(plain)) return null;
  if (/[.e]/.test(plain) && !Number.isFinite(Number(plain))) return null;
  const [, sign, digits] = plain.match(/^\+?(-?)0*(?=\d)(.*)$/) ?? plain.match(/^\+?(-?)(.*)$/);
  return numberOf(sign + digits.replace(/^\./, "0.").replace(/\.(?=e|$)/, ""));
}
