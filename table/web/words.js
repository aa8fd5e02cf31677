// The table's words: cards, seats, actions, phases, refusals, in the language in use.

import { FIRST_BID, isJoker, rankOf, suitOf } from "./cards.js";
import { num, t, tn } from "./i18n.js";
import { preferences, store } from "./store.js";

export const BLIND_NIL = 68;
export const LOOK = 69;
export const KEEP = 70;
export const TAKE_NEXT = 71;
export const DONE = 72;
const SUITS = ["clubs", "diamonds", "hearts", "spades"];

/** "queen of hearts". */
export function cardName(card) {
  if (isJoker(card)) return card === 52 ? t("little joker") : t("big joker");
  return t("{rank} of {suit}", { rank: rankName(rankOf(card)), suit: suitName(suitOf(card)) });
}

/** The name of suit 0-3. */
function suitName(suit) {
  return [t("clubs"), t("diamonds"), t("hearts"), t("spades")][suit];
}

function rankName(rank) {
  if (rank < 9) return num(rank + 2);
  return [t("jack"), t("queen"), t("king"), t("ace")][rank - 9];
}

/** The compass name of a seat; of two players the second sits opposite. */
export function compass(seat, players = 4) {
  return [t("South"), t("West"), t("North"), t("East")][players === 2 ? 2 * seat : seat];
}

/** Whoever sits on a seat, as the table calls her: "You", a person's name, or the place of a bot. */
export function seatName(state, seat) {
  if (seat === state.you) return t("You");
  return state.seats[seat].name || compass(seat, state.seats.length);
}

/** The name of an agent: the ladder's in the language in use, others as they are. */
export function agentName(name) {
  return (
    { easy: t("easy"), normal: t("normal"), hard: t("hard"), expert: t("expert"), champion: t("champion") }[name] ??
    name
  );
}

/** The name chosen, or what a nameless person is called. */
export function playerName() {
  return preferences.name || t("Guest");
}

/** The seat from which the table is seen: one's own, or South's for those who watch. */
export function ownSeat(state) {
  return state.you ?? 0;
}

/** The seats of a team. */
export function seatsOf(state, team) {
  return state.seats.map((_, seat) => seat).filter((seat) => seat % 2 === team);
}

/** A team in words. */
export function teamName(state, team) {
  if (state.you !== null && state.seats.length === 2) return seatName(state, team);
  if (state.you !== null) return team === state.you % 2 ? t("Your team") : t("Their team");
  if (state.seats.length === 2) return seatName(state, team);
  return team === 0 ? t("North and South") : t("East and West");
}

/** A bid in few words: "3", "nil", "blind nil". */
export function bidText(state, seat) {
  const bid = state.bids[seat];
  if (bid === null || bid === undefined) return "";
  if (bid > 0) return num(bid);
  return state.blind[seat] ? blindName() : t("nil");
}

/** "blind nil", or "double nil" in a draft. */
export function blindName() {
  return isDraft() ? t("double nil") : t("blind nil");
}

/** Whether hands are drafted at this table. */
export function isDraft() {
  return store.room?.rules.deal === "draft";
}

/** An action as a choice: "queen of hearts", "bid 3", "nil", "keep". */
export function actionName(action) {
  if (action < FIRST_BID) return cardName(action);
  if (action === FIRST_BID) return t("nil");
  if (action < BLIND_NIL) return tn("bid {n}", "bid {n}", action - FIRST_BID);
  if (action === BLIND_NIL) return blindName();
  if (action === LOOK) return isDraft() ? t("draw") : t("look at the cards");
  return { [KEEP]: t("keep the card"), [TAKE_NEXT]: t("take the next card"), [DONE]: t("done") }[action];
}

/** Why a card or bid is not allowed now, from the server's reason: a key, values, and a paragraph of the rules. */
export function reasonText(why) {
  const text = why ? (cardReason(why) ?? bidReason(why)) : null;
  if (!text) return t("That is not allowed now.");
  return /^R\d/.test(why.paragraph) ? t("{text} (rule {paragraph})", { text, paragraph: why.paragraph }) : text;
}

function cardReason({ key, values }) {
  switch (key) {
    case "follow":
      return t("The suit led is {suit}, and you hold some: follow suit.", {
        suit: suitName(SUITS.indexOf(values.suit)),
      });
    case "not_broken":
      return t("Spades are not broken yet, and you hold another suit to lead.");
    case "only_spades_left":
      return t("Spades are led only when you hold nothing else.");
    case "first_trick_spade":
      return t("No spade in the first trick while you hold another suit.");
    case "lowest_club":
      return t("Everybody plays the lowest club to the first trick.");
    case "no_club":
      return t("Without a club, no spade in the first trick while you hold another suit.");
    case "not_held":
      return t("You do not hold that card.");
    default:
      return null;
  }
}

function bidReason({ key, values }) {
  switch (key) {
    case "no_nil":
      return t("Nil is not allowed under these rules.");
    case "bid_too_low":
      return t("The lowest bid is {bid}.", values);
    case "bid_above_hand":
      return tn("There is only {n} trick.", "There are only {n} tricks.", values.tricks);
    case "team_bid":
      return t("Your team may bid {bid} together at most, {lowest} each at least.", values);
    default:
      return null;
  }
}

/** What went wrong, for a server's error frame. */
export function errorText(error) {
  if (error.code === "illegal") return reasonText(error.why);
  return errorWords()[error.code] ?? t("That did not work.");
}

function errorWords() {
  return {
    not_your_turn: t("It is not your turn."),
    stale: t("The table has moved on."),
    no_such_room: t("There is no table with this code."),
    full: t("Every seat of this table is taken."),
    not_allowed: t("That is not possible at this table."),
    not_seated: t("Only who sits at the table may do that."),
    too_fast: t("Slowly, please: too many messages."),
    bad_settings: t("These settings do not go together."),
    bad_name: t("This name is not possible."),
    bad_text: t("This message is not possible."),
    no_such_deal: t("There is no finished deal of that number."),
    no_answer: t("The agent did not answer in time."),
    replaced: t("Your seat was taken over in another window."),
    closed: t("This table is closed."),
    busy: t("The server has no room for more."),
    version: t("The server has been renewed: load this page again."),
    offline: t("There is no connection to the table right now."),
  };
}

/** What is decided now, as a short line for everybody. */
export function phaseText(state) {
  if (state.turn === null || state.turn === undefined) return "";
  if (state.turn === state.you) return ownPhase(state);
  const name = seatName(state, state.turn);
  if (state.phase === "bid") return t("{name} is bidding", { name });
  if (state.phase === "blind") return t("{name} decides before seeing cards", { name });
  if (state.phase === "draft") return t("{name} is drafting", { name });
  if (state.phase === "exchange") return t("{name} is exchanging cards", { name });
  return t("{name} is to play", { name });
}

function ownPhase(state) {
  if (state.phase === "bid") return t("Your bid");
  if (state.phase === "blind") return t("Your decision, before you see cards");
  if (state.phase === "draft") return t("Keep this card, or take the next one?");
  if (state.phase === "exchange") return t("Choose cards to give up");
  return t("Your turn");
}
