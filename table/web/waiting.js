// A room before it begins: who sits where, the code and the link to send, and the button that begins.

import { roomPath, send } from "./client.js";
import { countdown } from "./clock.js";
import { button, h } from "./dom.js";
import { t, tn } from "./i18n.js";
import { isOwnTeam } from "./seats.js";
import { store } from "./store.js";
import { agentName, compass } from "./words.js";

/** The panel of a room that has not begun. */
export function waitingRoom(state) {
  const { code } = store.room;
  const link = `${location.origin}${roomPath(code)}`;
  return h(
    "section",
    { class: "panel waiting-room", dir: document.documentElement.dir },
    h("h2", {}, t("Waiting for friends")),
    h("p", {}, t("Code of this table:"), " ", h("strong", { class: "code", dir: "ltr", "data-code": code }, code)),
    h("p", { class: "quiet-text" }, t("Send this link; whoever opens it sits down without an account:")),
    h("p", { class: "link", dir: "ltr" }, link),
    button(t("Copy the link"), () => navigator.clipboard?.writeText(link), { key: "copy-link" }),
    h(
      "ul",
      { class: "sitting" },
      state.seats.map((seat, k) => seatLine(state, seat, k)),
    ),
    beginning(state),
  );
}

function seatLine(state, seat, k) {
  const who =
    seat.kind === "person"
      ? seat.name
      : seat.kind === "open"
        ? t("free: a bot until somebody comes")
        : agentName(seat.agent);
  const mark = h("span", { class: isOwnTeam(state, k % 2) ? "team-mark filled" : "team-mark", "aria-hidden": "true" });
  return h(
    "li",
    { "data-seat": k, class: seat.kind },
    mark,
    h("span", { class: "place" }, compass(k, state.seats.length)),
    h("span", { dir: "auto" }, who),
    k === state.you ? h("em", {}, t("you")) : null,
  );
}

function beginning(state) {
  if (state.you !== null && state.you === state.host)
    return button(t("Begin"), () => send({ t: "begin" }), { kind: "primary", key: "begin" });
  return h("p", { class: "quiet-text" }, t("The person who opened the table begins."));
}

/** The page while strangers are being looked for. */
export function quickWaiting(waiting) {
  return h(
    "main",
    { class: "lobby", id: "main" },
    h(
      "section",
      { class: "panel waiting-room" },
      h("h2", {}, t("Looking for players")),
      h("p", {}, t("People waiting: {n}", { n: waiting.waiting })),
      h(
        "p",
        { class: "quiet-text" },
        countdown(waiting.seconds, (seconds) =>
          tn("Bots fill the free seats in {n} second.", "Bots fill the free seats in {n} seconds.", seconds),
        ),
      ),
      button(t("Stop looking"), () => send({ t: "leave" }), { key: "stop-looking" }),
    ),
  );
}
