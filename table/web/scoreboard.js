// Both teams at a glance, always in sight: contract, tricks still needed, bags and score.

import { h } from "./dom.js";
import { num, t } from "./i18n.js";
import { isOwnTeam, teamMark } from "./seats.js";
import { suitSign, SPADES } from "./cards.js";
import { ownSeat, seatsOf, teamName } from "./words.js";

/** The scoreboard of a snapshot. */
export function scoreboard(state, rules) {
  const own = ownSeat(state) % 2;
  const heads = [t("Team"), t("Contract"), t("Needs"), t("Bags"), t("Score")];
  return h(
    "table",
    { class: "scoreboard", "aria-label": t("Scores") },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((text, k) => h("th", { scope: "col", class: k ? "number" : "" }, text)),
      ),
    ),
    h(
      "tbody",
      {},
      [own, 1 - own].map((team) => teamRow(state, rules, team)),
    ),
  );
}

function teamRow(state, rules, team) {
  const bags = rules.bag_limit ? `${num(state.bags[team])}/${num(rules.bag_limit)}` : num(state.bags[team]);
  const contract = state.contracts[team];
  const needs = state.needs[team];
  const bid = seatsOf(state, team).some((seat) => state.bids[seat] !== null);
  return h(
    "tr",
    { class: isOwnTeam(state, team) ? "own-team" : "other-team", "data-team": team },
    h("th", { scope: "row" }, teamMark(state, team), h("span", {}, teamName(state, team))),
    cell("contract", bid ? num(contract) : "–"),
    cell(bid && needs === 0 ? "needs made" : "needs", bid ? num(needs) : "–"),
    cell("bags", bags),
    cell("score", num(state.scores[team])),
  );
}

function cell(name, text) {
  return h("td", { class: `number ${name}`, "data-cell": name.split(" ")[0] }, text);
}

/** The target, and whether spades are broken. */
export function situation(state, rules) {
  const broken = state.broken ? t("Spades are broken") : t("Spades not broken");
  return h(
    "p",
    { class: "situation" },
    h("span", {}, t("Deal {n}", { n: state.deal + 1 })),
    h("span", {}, t("to {target}", { target: rules.target })),
    rules.lead_spades === "any"
      ? null
      : h("span", { class: state.broken ? "broken yes" : "broken" }, suitSign(SPADES), broken),
  );
}
