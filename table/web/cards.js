// Cards drawn as SVG: a corner that is read in a fan, pips or a court letter in the middle; crisp at any size.

import { h, svg } from "./dom.js";
import { cardName } from "./words.js";

export const FIRST_BID = 54;
export const SPADES = 3;
const LITTLE_JOKER = 52;
const RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
// Place of clubs, diamonds, hearts, spades in a hand from the left: black and red alternate.
const SUIT_PLACES = [2, 3, 1, 0];

/** Suit 0-3 of a card id (clubs, diamonds, hearts, spades); jokers are spades. */
export function suitOf(card) {
  return Math.min(Math.floor(card / 13), SPADES);
}

/** Whether a card id is a joker. */
export function isJoker(card) {
  return card >= LITTLE_JOKER;
}

/** Rank 0-12 of a card that is no joker. */
export function rankOf(card) {
  return card % 13;
}

/** Card ids in the order in which a hand is held. */
export function sorted(cards) {
  return [...cards].sort((a, b) => SUIT_PLACES[suitOf(a)] - SUIT_PLACES[suitOf(b)] || b - a);
}

/** The face of a card as an SVG drawing. */
export function face(card) {
  const suit = isJoker(card) ? "joker" : suitOf(card);
  return svg(
    "svg",
    { class: `face suit-${suit}`, viewBox: "0 0 100 140", role: "img", "aria-label": cardName(card) },
    svg("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 9 }),
    ...(isJoker(card) ? jokerParts(card) : [...corners(card), ...middle(card)]),
  );
}

/** The back of a card. */
export function back(label) {
  return svg(
    "svg",
    { class: "face back", viewBox: "0 0 100 140", role: "img", "aria-label": label },
    svg("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 9 }),
    svg("rect", { class: "weave", x: 8, y: 8, width: 84, height: 124, rx: 5 }),
    pip(SPADES, 50, 70, 34, "emblem"),
  );
}

/** A small suit sign in running text. */
export function suitSign(suit) {
  return h(
    "span",
    { class: `suit-sign suit-${suit}` },
    svg("svg", { viewBox: "-12 -12 24 24", "aria-hidden": "true" }, svg("use", { href: `#suit-${suit}` })),
  );
}

/** A card in running text: rank and suit sign, named for a screen reader. */
export function cardText(card) {
  const rank = isJoker(card) ? (card === LITTLE_JOKER ? "☆" : "★") : RANKS[rankOf(card)];
  const suit = suitOf(card);
  return h(
    "bdi",
    { class: `card-text suit-${suit}`, dir: "ltr" },
    h("span", { class: "visually-hidden" }, cardName(card)),
    h("span", { "aria-hidden": "true" }, rank),
    suitSign(suit),
  );
}

function pip(suit, x, y, size, extra = "", turned = false) {
  const place = `translate(${x} ${y}) scale(${size / 24})${turned ? " rotate(180)" : ""}`;
  return svg("use", { class: extra, href: `#suit-${suit}`, transform: place });
}

function corners(card) {
  const rank = RANKS[rankOf(card)];
  const corner = () => [
    svg("text", { class: rank === "10" ? "rank narrow" : "rank", x: 15.5, y: 28, "text-anchor": "middle" }, rank),
    pip(suitOf(card), 15, 43, 19),
  ];
  return [svg("g", {}, ...corner()), svg("g", { class: "far-corner", transform: "rotate(180 50 70)" }, ...corner())];
}

function middle(card) {
  const rank = rankOf(card);
  const suit = suitOf(card);
  if (rank === 12) return [pip(suit, 50, 70, suit === SPADES ? 62 : 46)];
  if (rank >= 9) return court(RANKS[rank], suit);
  return PIPS[rank].map(([x, y]) => pip(suit, x, y, 19, "", y > 70));
}

function court(letter, suit) {
  return [
    svg("rect", { class: "frame", x: 28, y: 20, width: 44, height: 100, rx: 4 }),
    pip(suit, 50, 38, 18),
    pip(suit, 50, 102, 18, "", true),
    svg("text", { class: "court", x: 50, y: 84, "text-anchor": "middle" }, letter),
  ];
}

function jokerParts(card) {
  const big = card !== LITTLE_JOKER;
  const corner = () => [
    svg("text", { class: "rank", x: 15, y: 29, "text-anchor": "middle" }, big ? "★" : "☆"),
    pip(SPADES, 15, 43, 19),
  ];
  return [
    svg("g", {}, ...corner()),
    svg("g", { class: "far-corner", transform: "rotate(180 50 70)" }, ...corner()),
    svg("use", {
      class: big ? "jester big" : "jester",
      href: "#jester",
      transform: `translate(50 70) scale(${big ? 1.15 : 0.95})`,
    }),
  ];
}

const LEFT = 38,
  CENTRE = 50,
  RIGHT = 62;
const TOP = 30,
  BOTTOM = 110;
// Pips of ranks 2 to 10, as on any French deck.
const PIPS = [
  [
    [CENTRE, TOP],
    [CENTRE, BOTTOM],
  ],
  [
    [CENTRE, TOP],
    [CENTRE, 70],
    [CENTRE, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [CENTRE, 70],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [LEFT, 70],
    [RIGHT, 70],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [CENTRE, 48],
    [LEFT, 70],
    [RIGHT, 70],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [CENTRE, 48],
    [LEFT, 70],
    [RIGHT, 70],
    [CENTRE, 92],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [LEFT, 55],
    [RIGHT, 55],
    [CENTRE, 70],
    [LEFT, 85],
    [RIGHT, 85],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
  [
    [LEFT, TOP],
    [RIGHT, TOP],
    [CENTRE, 41],
    [LEFT, 55],
    [RIGHT, 55],
    [LEFT, 85],
    [RIGHT, 85],
    [CENTRE, 99],
    [LEFT, BOTTOM],
    [RIGHT, BOTTOM],
  ],
];
