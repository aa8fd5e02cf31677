// The rules in force, in words, made from the fields of `Rules` that the server describes.

import { h, openDialog } from "./dom.js";
import { num, t } from "./i18n.js";
import { store } from "./store.js";

/** Open the rules of a room. */
export function openRules(room) {
  const preset = room.settings.preset
    ? t("Preset: {name}", { name: presetName(room.settings.preset) })
    : t("Rules of this table's own");
  const content = h("div", { class: "rules-page" }, h("p", {}, preset), goal(room.rules), table(room.rules_page));
  openDialog(t("Rules of this table"), content, { key: "rules", closeLabel: t("Close") });
}

/** The name of a preset. */
export function presetName(name) {
  return { classic: t("Classic"), table: t("Table"), modern: t("Modern"), two_player: t("Two players") }[name] ?? name;
}

function goal(rules) {
  const two = rules.players === 2;
  return h(
    "ul",
    { class: "goal" },
    h(
      "li",
      {},
      two
        ? t("Say how many tricks you will take, then take at least so many.")
        : t("Say how many tricks you will take; what you and your partner say together is your contract."),
    ),
    h(
      "li",
      {},
      t(
        "Follow the suit led if you can. Spades are trump: the highest spade takes the trick, else the highest card of the suit led.",
      ),
    ),
    h(
      "li",
      {},
      t(
        "A contract made is worth 10 points a trick; each trick above it is a bag. A contract not made costs 10 points a trick.",
      ),
    ),
    h("li", {}, t("The match ends at {target} points.", { target: rules.target })),
  );
}

function table(lines) {
  const rows = lines.map(({ field, value, text, paragraph }) => {
    const help = store.welcome.rule_fields.find(({ name }) => name === field)?.help ?? field;
    const meaning = t(text);
    const shown = typeof value === "number" ? num(value) : null;
    return h(
      "tr",
      { "data-field": field },
      h("th", { scope: "row" }, t(help)),
      h("td", {}, shown ?? (meaning === t(help) ? String(value) : meaning)),
      h("td", { class: "quiet-text", dir: "ltr" }, paragraph),
    );
  });
  return h("table", { class: "rules-table" }, h("tbody", {}, rows));
}
