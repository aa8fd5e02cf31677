// What a screen reader says: every event at the table, found by comparing two snapshots.

import { t, tn } from "./i18n.js";
import { bidText, cardName, phaseText, seatName } from "./words.js";

/** The sentences for what happened between two snapshots of one table; `before` may be null. */
export function events(before, state) {
  const begins = !before || before.code !== state.code || before.phase === "waiting";
  if (begins || state.phase === "waiting") return [phaseText(state)];
  const sentences =
    before.deal === state.deal
      ? [...bids(before, state), ...plays(before, state)]
      : [t("New deal."), ...bids(null, state)];
  if (state.broken && !before.broken && state.deal === before.deal) sentences.push(t("Spades are broken."));
  const asked = state.turn === state.you && (before.turn !== before.you || before.n !== state.n);
  if (asked && state.you !== null) sentences.push(phaseText(state));
  return sentences;
}

function bids(before, state) {
  return state.bids.flatMap((bid, seat) => {
    const known = before?.bids[seat] ?? null;
    if (bid === null || known !== null) return [];
    const words = { name: seatName(state, seat), bid: bidText(state, seat) };
    return [seat === state.you ? t("You bid {bid}.", words) : t("{name} bids {bid}.", words)];
  });
}

function plays(before, state) {
  const shown = new Set(before.trick.map(([, card]) => card));
  const last = state.last_trick && !sameTrick(before.last_trick, state.last_trick) ? state.last_trick : null;
  const played = [...(last?.plays ?? []), ...state.trick].filter(([, card]) => !shown.has(card));
  const sentences = played.map(([seat, card]) => playText(state, seat, card));
  if (last) sentences.splice(sentences.length - state.trick.length, 0, won(state, last.winner));
  return sentences;
}

function playText(state, seat, card) {
  const words = { name: seatName(state, seat), card: cardName(card) };
  return seat === state.you ? t("You play {card}.", words) : t("{name} plays {card}.", words);
}

/** "West takes the trick". */
export function won(state, winner) {
  if (winner === state.you) return t("You take the trick.");
  return t("{name} takes the trick.", { name: seatName(state, winner) });
}

/** How many tricks, for panels and labels. */
export function tricksText(n) {
  return tn("{n} trick", "{n} tricks", n);
}

/** Whether two "last tricks" are the same one. */
function sameTrick(one, other) {
  return JSON.stringify(one?.plays) === JSON.stringify(other?.plays);
}

/** Say something politely; the same text twice is said twice. */
export function say(text) {
  const region = document.getElementById("live");
  const line = document.createElement("p");
  line.textContent = text;
  region.append(line);
  while (region.childElementCount > 12) region.firstChild.remove();
}
