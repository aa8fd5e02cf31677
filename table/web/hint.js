// Hint and explain, in watch and practice only: what an agent would do, what it thinks each choice is worth,
// and where it believes the unseen cards are.

import { cardText, FIRST_BID, sorted, suitOf } from "./cards.js";
import { h, svg } from "./dom.js";
import { num, percent, t } from "./i18n.js";
import { store } from "./store.js";
import { actionName, agentName, seatName } from "./words.js";

/** The panel of the last hint, or how to get one. */
export function hintPanel() {
  const { hint, state } = store;
  if (!hint)
    return h(
      "p",
      { class: "quiet-text" },
      t("Ask for a hint at your turn: what an agent would do, and what it thinks of every choice."),
    );
  return h(
    "div",
    { class: "hint" },
    h(
      "p",
      { class: "advice" },
      t("{agent} would choose:", { agent: agentName(hint.agent) }),
      " ",
      h("strong", {}, actionLabel(hint.action)),
    ),
    hint.values?.length ? valueTable(hint) : h("p", { class: "quiet-text" }, t("This agent gives no estimates.")),
    hint.beliefs?.length ? beliefTable(new Map(hint.beliefs), state) : null,
  );
}

function actionLabel(action) {
  return action < FIRST_BID ? cardText(action) : actionName(action);
}

function valueTable({ values, unit, action: best }) {
  const ordered = [...values].sort((a, b) => b.value - a.value);
  const high = ordered[0].value;
  const low = ordered.at(-1).value;
  const rows = ordered.map(({ action, value }) => {
    const share = high === low ? 1 : (value - low) / (high - low);
    const bar = svg(
      "svg",
      { class: "bar-of-value", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width: 2 + 98 * share, height: 10 }),
    );
    const amount =
      unit !== "points" ? percent(value) : num(value, { maximumFractionDigits: 1, minimumFractionDigits: 1 });
    return h(
      "tr",
      { class: action === best ? "best" : "" },
      h("th", { scope: "row" }, actionLabel(action)),
      h("td", {}, bar),
      h("td", { class: "number" }, amount),
    );
  });
  return h("table", { class: "values" }, h("caption", {}, unitName(unit)), h("tbody", {}, rows));
}

function unitName(unit) {
  return {
    points: t("Points expected for the team"),
    win: t("Chance to win the match"),
    chance: t("How often it chooses this"),
  }[unit];
}

function beliefTable(beliefs, state) {
  const seats = state.seats.map((_, seat) => seat).filter((seat) => seat !== (store.hint.seat ?? state.turn));
  const cards = sorted(beliefs.keys());
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, t("Card")),
    seats.map((seat) => h("th", { scope: "col", dir: "auto" }, seatName(state, seat))),
  );
  const rows = cards.map((card, k) => {
    const cells = seats.map((seat) =>
      h("td", { class: `belief shade-${shade(beliefs.get(card)[seat])}` }, percent(beliefs.get(card)[seat])),
    );
    const starts = k > 0 && suitOf(card) !== suitOf(cards[k - 1]);
    return h("tr", { class: starts ? "suit-start" : "" }, h("th", { scope: "row" }, cardText(card)), cells);
  });
  return h(
    "details",
    { class: "beliefs" },
    h("summary", {}, t("Where the unseen cards may be")),
    h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
  );
}

/** A step 0-5 of shading for a chance 0..1. */
function shade(chance) {
  return Math.round(5 * chance);
}

/** The hands of all seats, where the mode shows them (watching four bots). */
export function handsInSight(state) {
  if (!state.hands) return null;
  const rows = state.hands.map((cards, seat) =>
    h(
      "p",
      { class: "open-hand" },
      h("span", { class: "open-name", dir: "auto" }, seatName(state, seat)),
      h(
        "span",
        { dir: "ltr" },
        sorted(cards ?? []).map((card) => cardText(card)),
      ),
    ),
  );
  return h("section", { class: "open-hands", "aria-label": t("All hands") }, rows);
}
