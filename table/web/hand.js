// One's own cards: legal ones lit, others dimmed; mouse, touch (lift, then play) and keyboard.

import { act } from "./client.js";
import { back, face, sorted } from "./cards.js";
import { h } from "./dom.js";
import { t, tn } from "./i18n.js";
import { notice } from "./notice.js";
import { store, update } from "./store.js";
import { cardName, isDraft, reasonText } from "./words.js";

const NARROW = 620;
let pointer = "mouse";

/** Make the hand's container; its cards are updated in place, so that focus and movement survive. */
export function makeHand() {
  const hand = h("div", { class: "hand", role: "group", dir: "ltr" });
  hand.addEventListener("pointerdown", (event) => (pointer = event.pointerType), true);
  hand.addEventListener("keydown", (event) => moveFocus(hand, event));
  return hand;
}

/** Show the cards of a snapshot. */
export function showHand(hand, state) {
  const cards = isHidden(state) ? null : sorted(state.hand ?? []);
  hand.setAttribute(
    "aria-label",
    cards ? tn("Your hand, {n} card", "Your hand, {n} cards", cards.length) : t("Your cards, not looked at"),
  );
  hand.hidden = state.you === null;
  if (cards === null) {
    showBacks(hand, state);
    return;
  }
  const held = focusPlace(hand);
  const old = new Map([...hand.querySelectorAll("button[data-card]")].map((node) => [Number(node.dataset.card), node]));
  const nodes = cards.map((card) => old.get(card) ?? cardButton(card));
  if (!same([...hand.children], nodes)) hand.replaceChildren(...nodes);
  nodes.forEach((node, k) => dress(node, state, cards[k]));
  spread(hand, nodes.length);
  keepFocus(hand, nodes, state, held);
}

function same(one, other) {
  return one.length === other.length && one.every((node, k) => node === other[k]);
}

/** Whether the person has not looked at her cards yet (R10). */
function isHidden(state) {
  return state.you !== null && !isDraft() && !state.looked[state.you] && ["blind", "bid"].includes(state.phase);
}

function showBacks(hand, state) {
  const count = state.cards_left[state.you];
  hand.replaceChildren(
    ...Array.from({ length: count }, () => h("div", { class: "card" }, back(t("a card face down")))),
  );
  spread(hand, count);
}

/** Tell the style sheet how many columns there are: one row, or two on a narrow screen. */
function spread(hand, count) {
  const rows = window.innerWidth < NARROW && count > 7 ? 2 : 1;
  hand.style.setProperty("--columns", Math.max(1, Math.ceil(count / rows)));
}

function cardButton(card) {
  const props = {
    type: "button",
    class: "card",
    "data-card": card,
    key: `card-${card}`,
    on: { click: () => choose(card) },
  };
  return h("button", props, face(card));
}

function dress(node, state, card) {
  const asked = asks(state);
  const legal = asked && state.legal.includes(card);
  const why = state.why?.[card];
  node.classList.toggle("legal", legal);
  node.classList.toggle("dimmed", asked && !legal);
  node.classList.toggle("lifted", store.lifted === card);
  node.setAttribute("aria-disabled", String(!legal));
  node.setAttribute("aria-label", label(state, card, asked, legal, why));
  node.firstChild.setAttribute("aria-hidden", "true");
}

function label(state, card, asked, legal, why) {
  if (!asked || legal) return cardName(card);
  return t("{card}, not allowed: {reason}", { card: cardName(card), reason: reasonText(why) });
}

/** Whether a card is asked of the person: a play, or one to give up. */
function asks(state) {
  return state.you !== null && state.turn === state.you && ["play", "exchange"].includes(state.phase);
}

function choose(card) {
  const state = store.state;
  if (!asks(state)) return;
  if (!state.legal.includes(card)) {
    refuse(card, state.why?.[card]);
  } else if (pointer === "touch" && store.lifted !== card) {
    update({ lifted: card });
  } else {
    act(card);
  }
}

function refuse(card, why) {
  notice(reasonText(why));
  const node = document.querySelector(`.hand [data-card="${card}"]`);
  node?.classList.remove("refused");
  void node?.offsetWidth; // restarts the movement
  node?.classList.add("refused");
}

function focusPlace(hand) {
  return [...hand.children].indexOf(document.activeElement);
}

/** One card is in the tab order; if the focused one was played, the nearest legal one gets the focus. */
function keepFocus(hand, nodes, state, held) {
  const legal = nodes.filter((node) => node.classList.contains("legal"));
  let current = nodes.find((node) => node === document.activeElement);
  if (!current && held >= 0 && nodes.length) {
    current = legal[0] ?? nodes[Math.min(held, nodes.length - 1)];
    current.focus();
  }
  const stop = current ?? legal[0] ?? nodes[0];
  nodes.forEach((node) => node.setAttribute("tabindex", node === stop ? "0" : "-1"));
}

function moveFocus(hand, event) {
  pointer = "keyboard";
  const nodes = [...hand.querySelectorAll("button[data-card]")];
  const here = nodes.indexOf(document.activeElement);
  const columns = Number(hand.style.getPropertyValue("--columns")) || nodes.length;
  const steps = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -here,
    End: nodes.length - 1 - here,
  };
  const there = here + steps[event.key];
  if (!(event.key in steps) || !nodes[there]) return;
  event.preventDefault();
  nodes.forEach((node, k) => node.setAttribute("tabindex", k === there ? "0" : "-1"));
  nodes[there].focus();
}
