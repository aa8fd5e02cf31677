// The trick on the table; a complete one stays until the next card is led, and can be looked at again.

import { won } from "./announce.js";
import { face } from "./cards.js";
import { h, openDialog } from "./dom.js";
import { t } from "./i18n.js";
import { placeOf } from "./seats.js";
import { store } from "./store.js";
import { cardName, seatName } from "./words.js";

/** Show the trick of a snapshot in `place`, keeping the cards that lie there already. */
export function showTrick(place, state) {
  const complete = isComplete(state);
  const plays = complete ? state.last_trick.plays : state.trick;
  const winner = complete ? state.last_trick.winner : null;
  const old = new Map([...place.querySelectorAll(".played")].map((node) => [Number(node.dataset.card), node]));
  const nodes = plays.map(([seat, card]) => old.get(card) ?? playedCard(state, seat, card));
  nodes.forEach((node, k) => node.classList.toggle("winner", plays[k][0] === winner));
  if (nodes.length !== place.childElementCount || nodes.some((node, k) => node !== place.children[k]))
    place.replaceChildren(...nodes);
  place.classList.toggle("complete", complete);
  place.setAttribute("aria-label", describe(state, plays, winner));
}

/** Whether the trick on the table is a complete one: nobody has led to the next yet. */
export function isComplete(state) {
  return (
    state.trick.length === 0 && Boolean(state.last_trick) && ["play", "deal over", "match over"].includes(state.phase)
  );
}

function playedCard(state, seat, card) {
  return h("div", { class: `played from-${placeOf(state, seat)}`, "data-card": card }, face(card));
}

function describe(state, plays, winner) {
  if (!plays.length) return t("No card on the table");
  const words = plays.map(([seat, card]) => t("{name}: {card}", { name: seatName(state, seat), card: cardName(card) }));
  if (winner !== null) words.push(won(state, winner));
  return words.join(", ");
}

/** Open the last complete trick again. */
export function openLastTrick() {
  const last = store.state?.last_trick;
  if (!last) return;
  const cards = last.plays.map(([seat, card]) =>
    h(
      "figure",
      { class: seat === last.winner ? "winner" : "" },
      face(card),
      h("figcaption", { dir: "auto" }, seatName(store.state, seat)),
    ),
  );
  const content = h(
    "div",
    { class: "last-trick" },
    h("div", { class: "row", dir: "ltr" }, cards),
    h("p", {}, won(store.state, last.winner)),
  );
  openDialog(t("The last trick"), content, { key: "last-trick", closeLabel: t("Close") });
}
