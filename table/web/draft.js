// Two players: keep the card looked at or take the next one (R27), and exchange cards after a double nil (R28).

import { act } from "./client.js";
import { cardText, face, sorted } from "./cards.js";
import { button, h } from "./dom.js";
import { t, tn } from "./i18n.js";
import { store } from "./store.js";
import { DONE, KEEP, TAKE_NEXT } from "./words.js";

/** The panel of the seat that draws. */
export function draftPanel(state) {
  return h(
    "section",
    { class: "panel draft", "aria-label": t("Draft") },
    h("div", { class: "drawn" }, face(state.shown)),
    h(
      "div",
      { class: "draft-text" },
      h("h2", {}, t("Keep this card?")),
      h("p", { class: "quiet-text" }, t("If not, it is discarded and you get the next card, whatever it is.")),
      h(
        "div",
        { class: "choices" },
        button(t("Keep"), () => act(KEEP), { kind: "primary", key: "keep", "data-action": KEEP }),
        button(t("Take the next card"), () => act(TAKE_NEXT), { key: "take-next", "data-action": TAKE_NEXT }),
      ),
      h("p", { class: "quiet-text" }, tn("{n} card left in the pile", "{n} cards left in the pile", state.pile_left)),
    ),
  );
}

/** The panel of the seat that exchanges: the cards themselves are chosen in the hand. */
export function exchangePanel(state) {
  const most = store.room.rules.blind_nil_exchange;
  const given = state.exchanged[state.you];
  return h(
    "section",
    { class: "panel exchange", "aria-label": t("Exchange") },
    h("h2", {}, tn("Give up to {n} card", "Give up to {n} cards", most)),
    h("p", { class: "quiet-text" }, t("Choose a card in your hand; as many are drawn from the discards.")),
    given ? h("p", {}, tn("{n} card given up", "{n} cards given up", given)) : null,
    button(t("Done"), () => act(DONE), { kind: "primary", key: "done", "data-action": DONE }),
  );
}

/** What the person has thrown away in this deal, as only she knows it (R29); null without a draft. */
export function discarded(state) {
  const cards = [...(state.rejected ?? []), ...(state.thrown ?? [])];
  if (!cards.length) return null;
  return h(
    "details",
    { class: "discarded" },
    h("summary", {}, tn("{n} card you discarded", "{n} cards you discarded", cards.length)),
    h(
      "p",
      { dir: "ltr" },
      sorted(cards).map((card) => cardText(card)),
    ),
  );
}
