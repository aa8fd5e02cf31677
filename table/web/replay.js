// A finished deal, stepped through card by card with all hands open. The record says who acted: no rule is known here.

import { cardText, face, FIRST_BID, sorted } from "./cards.js";
import { button, h, icon, openDialog, render } from "./dom.js";
import { t } from "./i18n.js";
import { placeOf } from "./seats.js";
import { actionName, agentName, compass, DONE, KEEP, TAKE_NEXT } from "./words.js";

const RANKS = "23456789TJQKA";
const ACTIONS = { nil: 54, "blind nil": 68, look: 69, keep: 70, "take next": 71, done: 72 };

/** The action id of a text in a record, such as "AS", "bid 3" or "keep". */
function actionOf(text) {
  if (text in ACTIONS) return ACTIONS[text];
  if (text.startsWith("bid ")) return 54 + Number(text.slice(4));
  if (text === "LJ" || text === "BJ") return text === "LJ" ? 52 : 53;
  return 13 * "CDHS".indexOf(text[1]) + RANKS.indexOf(text[0]);
}

/** Positions of a finished deal after 0, 1, 2 ... actions: {hands, trick, tricks, said: [seat, action] or null}. */
function positions(record) {
  const players = record.rules.players;
  const hands = record.hands ? record.hands.map(cardsOf) : Array.from({ length: players }, () => []);
  const firstPlay = record.actions.length - players * record.rules.hand_size;
  const draft = record.pile ? new Draft(record) : null;
  const all = [{ hands, trick: [], tricks: Array(players).fill(0), said: null }];
  record.actions.forEach(([seat, text], k) => {
    const action = actionOf(text);
    const next = following(all.at(-1), seat, action);
    if (k >= firstPlay) playCard(next, seat, action, record.actions[k + 1]?.[0], record);
    else if (draft) draft.act(next.hands, seat, action);
    all.push(next);
  });
  return all;
}

function cardsOf(text) {
  return text.split(" ").filter(Boolean).map(actionOf);
}

function following(now, seat, action) {
  const hands = now.hands.map((cards) => cards.filter((card) => card !== action));
  return { hands, trick: now.trick, tricks: [...now.tricks], said: [seat, action] };
}

/** Where the cards of a draft come from (R27, R28). */
class Draft {
  constructor(record) {
    this.pile = cardsOf(record.pile);
    this.drawn = (record.drawn ?? []).map(([seat, text]) => [seat, cardsOf(text)]);
    this.most = record.rules.blind_nil_exchange;
    this.given = [0, 0];
  }

  /** Let an action before the play happen to the hands. */
  act(hands, seat, action) {
    if (action === KEEP || action === TAKE_NEXT) {
      const [top, next] = this.pile.splice(0, 2);
      hands[seat].push(action === KEEP ? top : next);
    } else if (action === DONE || (action < FIRST_BID && ++this.given[seat] === this.most)) {
      hands[seat].push(...(this.drawn.find(([drawer]) => drawer === seat)?.[1] ?? []));
    }
  }
}

/** Whoever acts after a whole trick has won it. */
function playCard(next, seat, card, then, record) {
  const { players } = record.rules;
  next.trick = [...(next.trick.length === players ? [] : next.trick), [seat, card]];
  if (next.trick.length === players) next.tricks[then ?? lastWinner(next.tricks, record)] += 1;
}

/** The winner of the last trick: whose count in the outcome is one more than before it. */
function lastWinner(tricks, record) {
  return Math.max(
    0,
    record.outcome.tricks.findIndex((count, seat) => count > tricks[seat]),
  );
}

/** Open the dialog that steps through a record. */
export function openReplay(record, state) {
  const all = positions(record);
  let place = 0;
  const body = h("div", { class: "replay" });
  const go = (to) => {
    place = Math.max(0, Math.min(all.length - 1, to));
    render(body, replayTable(record, state, all[place]), controls(all, place, go));
  };
  body.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -place, End: all.length };
    if (!(event.key in steps) || event.target.type === "range") return;
    event.preventDefault();
    go(place + steps[event.key]);
  });
  go(0);
  const dialog = openDialog(t("Deal {n}, step by step", { n: record.deal + 1 }), body, {
    key: "replay",
    closeLabel: t("Close"),
  });
  dialog.querySelector('[data-key="replay-next"]')?.focus();
}

function replayTable(record, state, now) {
  const seats = now.hands.map((cards, seat) =>
    h(
      "section",
      { class: `replay-seat at-${placeOf(state, seat)}` },
      h("h3", { dir: "auto" }, nameOf(record, seat)),
      h("p", { class: "quiet-text" }, t("{n} taken", { n: now.tricks[seat] })),
      h(
        "p",
        { class: "replay-cards", dir: "ltr" },
        sorted(cards).map((card) => cardText(card)),
      ),
    ),
  );
  const cards = now.trick.map(([seat, card]) => h("div", { class: `played from-${placeOf(state, seat)}` }, face(card)));
  return h(
    "div",
    { class: "replay-table", dir: "ltr", "data-players": now.hands.length },
    seats,
    h("div", { class: "trick" }, cards),
    caption(record, now),
  );
}

function caption(record, now) {
  if (!now.said) return h("p", { class: "replay-said" }, t("The cards are dealt."));
  const [seat, action] = now.said;
  return h(
    "p",
    { class: "replay-said", role: "status" },
    t("{name}: {card}", { name: compass(seat, record.rules.players), card: actionName(action) }),
  );
}

function nameOf(record, seat) {
  const name = record.players?.[seat];
  const place = compass(seat, record.rules.players);
  return name ? t("{seat}: {name}", { seat: place, name: agentName(name) }) : place;
}

function controls(all, place, go) {
  const range = h("input", {
    type: "range",
    min: 0,
    max: all.length - 1,
    value: place,
    key: "replay-range",
    "aria-label": t("Step"),
    on: { input: (event) => go(Number(event.target.value)) },
  });
  range.value = place;
  return h(
    "div",
    { class: "replay-controls" },
    button(icon("back"), () => go(place - 1), { key: "replay-back", "aria-label": t("Back") }),
    range,
    button(icon("step"), () => go(place + 1), { key: "replay-next", "aria-label": t("Forward") }),
  );
}
