// Languages: texts from gettext catalogues that the server serves as JSON, plural and number forms from Intl.

let messages = {};
let digits = ["en"];
let numbers = new Intl.NumberFormat("en");
let percents = new Intl.NumberFormat("en", { style: "percent" });
let forms = new Intl.PluralRules("en");
let slots = ["one", "other"];

/** Languages by code, each in its own words; the server says which of them have a catalogue. */
export const LANGUAGE_NAMES = { en: "English", hi: "हिन्दी", ne: "नेपाली", ur: "اردو", te: "తెలుగు" };

/** Where browsers lack a language's numbers: those of a language that writes them alike. */
const NUMBERS = { ne: ["ne", "hi-u-nu-deva"] };

const ORDER = ["zero", "one", "two", "few", "many", "other"];

/** Load a language's catalogue and turn the page into it; English stays where a text is missing. */
export async function useLanguage(code) {
  const answer = await fetch(`/messages/${code}.json`);
  if (!answer.ok) throw new Error(`no catalogue for ${code}`);
  const catalogue = await answer.json();
  messages = catalogue.messages;
  digits = NUMBERS[code] ?? [code];
  numbers = new Intl.NumberFormat(digits);
  percents = new Intl.NumberFormat(digits, { style: "percent" });
  forms = new Intl.PluralRules(code);
  slots = ORDER.filter((slot) => forms.resolvedOptions().pluralCategories.includes(slot));
  document.documentElement.lang = code;
  document.documentElement.dir = catalogue.direction;
}

/** The language to begin with: the one chosen before, else the browser's first that is there. */
export function preferredLanguage(available, chosen) {
  const wishes = [chosen, ...navigator.languages.map((code) => code.split("-")[0])];
  return wishes.find((code) => available.includes(code)) ?? "en";
}

/** The text in the language in use; `{name}` stands for `values.name`, numbers in the language's digits. */
export function t(text, values = {}) {
  return filled((typeof messages[text] === "string" && messages[text]) || text, values);
}

/** The text for `n` things: `one` and `many` are the English forms; `{n}` is the number. */
export function tn(one, many, n, values = {}) {
  const translated = messages[one];
  const index = Math.max(0, slots.indexOf(forms.select(Math.abs(n))));
  const text =
    (Array.isArray(translated) && translated[Math.min(index, translated.length - 1)]) || (n === 1 ? one : many);
  return filled(text, { n, ...values });
}

/** A number in the language's digits. */
export function num(value, options) {
  return options ? new Intl.NumberFormat(digits, options).format(value) : numbers.format(value);
}

/** A number of points with its sign. */
export function signed(value) {
  return num(value, { signDisplay: "exceptZero" });
}

/** A share 0..1 as a percentage. */
export function percent(value) {
  return percents.format(value);
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (hole, name) => {
    if (!(name in values)) return hole;
    return typeof values[name] === "number" ? num(values[name]) : String(values[name]);
  });
}
