// A panel for every seat: name, team mark, dealer mark, whose turn, bid and tricks.

import { tricksText } from "./announce.js";
import { h, icon } from "./dom.js";
import { num, t } from "./i18n.js";
import { agentName, bidText, ownSeat, seatName } from "./words.js";

/** Where a seat is, seen from one's own: "bottom", "left", "top" or "right". */
export function placeOf(state, seat) {
  if (state.seats.length === 2) return seat === ownSeat(state) ? "bottom" : "top";
  return ["bottom", "left", "top", "right"][(seat - ownSeat(state) + 4) % 4];
}

/** The panel of a seat. */
export function seatPanel(state, seat) {
  const turn = state.turn === seat;
  const own = isOwnTeam(state, seat % 2);
  const classes = ["seat", `at-${placeOf(state, seat)}`, own ? "own-team" : "other-team", turn && "turn"]
    .filter(Boolean)
    .join(" ");
  return h(
    "section",
    { class: classes, "data-seat": seat, "aria-label": panelLabel(state, seat) },
    h(
      "div",
      { class: "seat-head" },
      teamMark(state, seat % 2),
      h("span", { class: "seat-name", dir: "auto" }, seatName(state, seat)),
      state.dealer === seat ? dealerMark() : null,
    ),
    h("div", { class: "seat-count", "aria-hidden": "true" }, bidBadge(state, seat), trickPips(state, seat)),
    h("div", { class: "seat-note" }, turn ? thinking(state) : note(state, seat)),
  );
}

/** Filled for one's own team (North and South for those who watch), empty for the other. */
export function teamMark(state, team) {
  return h("span", { class: isOwnTeam(state, team) ? "team-mark filled" : "team-mark", "aria-hidden": "true" });
}

/** Whether a team is one's own. */
export function isOwnTeam(state, team) {
  return team === ownSeat(state) % 2;
}

function dealerMark() {
  return h("span", { class: "dealer", title: t("Dealer"), "aria-hidden": "true" }, t("D"));
}

function bidBadge(state, seat) {
  const bid = state.bids[seat];
  if (bid === null) return h("span", { class: "bid none" }, "–");
  return h("span", { class: bid === 0 ? "bid nil" : "bid" }, bidText(state, seat));
}

function trickPips(state, seat) {
  const taken = state.tricks[seat];
  const bid = state.bids[seat] ?? 0;
  const pips = Array.from({ length: Math.max(taken, bid) }, (_, k) => {
    const kind = k < taken ? (k < bid ? "pip taken" : "pip over") : "pip";
    return h("span", { class: kind });
  });
  return h(
    "span",
    { class: "tricks" },
    h("span", { class: "taken-number" }, num(taken)),
    h("span", { class: "pips" }, pips),
  );
}

/** Dots while somebody decides; an agent that is still being compiled says so. */
function thinking(state) {
  if (state.preparing) return t("getting ready");
  return h("span", { class: "thinking", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
}

function note(state, seat) {
  const { kind, connected, agent_plays: botPlays, agent } = state.seats[seat];
  if (kind === "open") return t("free seat, a bot plays");
  if (kind === "person" && botPlays) return h("span", { class: "warn" }, icon("bot"), t("a bot plays for now"));
  if (kind === "person" && !connected) return h("span", { class: "warn" }, t("away"));
  return kind === "agent" ? t("bot: {agent}", { agent: agentName(agent) }) : null;
}

function panelLabel(state, seat) {
  const words = {
    name: seatName(state, seat),
    bid: bidText(state, seat) || t("none yet"),
    tricks: tricksText(state.tricks[seat]),
  };
  const parts = [t("{name}: bid {bid}, {tricks} taken", words)];
  if (state.dealer === seat) parts.push(t("Dealer"));
  if (state.turn === seat) parts.push(seat === state.you ? t("Your turn") : t("to act"));
  return parts.join(", ");
}
