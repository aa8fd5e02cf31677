// The table: bar with the scoreboard, seats around the trick, whatever is to be decided, and one's hand.

import { won } from "./announce.js";
import { bidPanel, blindPanel } from "./bidding.js";
import { send } from "./client.js";
import { clockLine } from "./clock.js";
import { button, h, icon, render } from "./dom.js";
import { discarded, draftPanel, exchangePanel } from "./draft.js";
import { makeHand, showHand } from "./hand.js";
import { handsInSight } from "./hint.js";
import { t } from "./i18n.js";
import { hints, tableMenu } from "./menu.js";
import { scoreboard, situation } from "./scoreboard.js";
import { placeOf, seatPanel } from "./seats.js";
import { store } from "./store.js";
import { isComplete, showTrick } from "./trick.js";
import { waitingRoom } from "./waiting.js";
import { phaseText } from "./words.js";

const parts = {};

/** Make the table once per room; `showTable` fills it. */
export function makeTable() {
  parts.bar = h("header", { class: "bar" });
  parts.seats = h("div", { class: "seats" });
  parts.trick = h("div", { class: "trick", role: "img" });
  parts.decision = h("div", { class: "decision" });
  parts.own = h("div", { class: "own" });
  parts.hand = makeHand();
  parts.felt = h("div", { class: "felt", dir: "ltr" }, parts.seats, parts.trick, parts.decision);
  parts.root = h("main", { class: "table", id: "main" }, parts.bar, parts.felt, parts.own, parts.hand);
  return parts.root;
}

/** Show the snapshot in the store. */
export function showTable() {
  const { state, room } = store;
  parts.root.dataset.n = state.n;
  parts.root.classList.toggle("waiting", state.phase === "waiting");
  if (state.phase === "waiting") {
    render(parts.bar, h("div", { class: "bar-row" }, h("h1", {}, t("Spades")), tableMenu()));
    render(parts.decision, waitingRoom(state));
    return;
  }
  parts.felt.dataset.players = room.rules.players;
  render(
    parts.bar,
    h("div", { class: "bar-row" }, scoreboard(state, room.rules), situation(state, room.rules), tableMenu()),
  );
  const dir = document.documentElement.dir || "ltr";
  render(
    parts.seats,
    state.seats.map((_, seat) => directed(seatPanel(state, seat), dir)),
  );
  showTrick(parts.trick, state);
  render(parts.decision, directed(decision(state), dir));
  render(parts.own, ownLine(state), handsInSight(state));
  showHand(parts.hand, state);
}

/** The felt is a place, the same in every script; the texts on it run as their script does. */
function directed(element, dir) {
  element?.setAttribute("dir", dir);
  return element;
}

function decision(state) {
  if (state.you === null || state.turn !== state.you) return waitingLine(state);
  if (state.phase === "bid") return bidPanel(state);
  if (state.phase === "blind") return blindPanel(state);
  if (state.phase === "draft") return draftPanel(state);
  return state.phase === "exchange" ? exchangePanel(state) : null;
}

function waitingLine(state) {
  const idle = state.phase !== "play" && state.turn !== null;
  return idle ? h("p", { class: "waiting-line" }, phaseText(state)) : null;
}

function ownLine(state) {
  const { room } = store;
  const yours = state.turn !== null && state.turn === state.you;
  return h(
    "div",
    { class: yours ? "own-line your-turn" : "own-line" },
    h(
      "p",
      { class: "turn-text" },
      isComplete(state) ? h("span", { class: "took" }, won(state, state.last_trick.winner), " ") : null,
      phaseText(state),
    ),
    clockLine(state),
    discarded(state),
    h(
      "div",
      { class: "own-buttons" },
      state.undo ? labelled("undo", t("Take back"), () => send({ t: "undo" }), { key: "undo", kind: "quiet" }) : null,
      hints(room) && (yours || room.settings.mode === "watch")
        ? labelled("hint", t("Hint"), () => send({ t: "hint", n: state.n }), { key: "hint", kind: "quiet" })
        : null,
      state.claim ? button(t("Claim the rest"), () => send({ t: "claim", n: state.n }), { key: "claim" }) : null,
      pausable(room) ? watchButtons(state) : null,
    ),
  );
}

/** A button with an icon and a label; on a phone the icon alone. */
function labelled(name, text, onClick, props) {
  return button([icon(name), h("span", { class: "label" }, text)], onClick, {
    "aria-label": text,
    title: text,
    ...props,
  });
}

/** Whether the table may be paused: only agents play, or one person practises. */
function pausable(room) {
  return ["practice", "watch"].includes(room.settings.mode);
}

function watchButtons(state) {
  return [
    labelled(
      state.paused ? "play" : "pause",
      state.paused ? t("Go on") : t("Pause"),
      () => send({ t: "pause", on: !state.paused }),
      { key: "pause" },
    ),
    store.room.settings.mode === "watch" &&
      labelled("step", t("One step"), () => send({ t: "step" }), {
        key: "step",
        "aria-disabled": state.paused ? null : "true",
      }),
  ];
}

/** Where a seat's panel is, for a bubble of chat. */
export function seatElement(seat) {
  return parts.seats?.querySelector(`.at-${placeOf(store.state, seat)}`);
}
