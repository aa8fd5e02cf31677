// The bidding panel: numbers, nil, and, before the cards are shown, blind nil or a look (double nil or draw).

import { act } from "./client.js";
import { FIRST_BID } from "./cards.js";
import { button, h } from "./dom.js";
import { num, t, tn } from "./i18n.js";
import { notice } from "./notice.js";
import { store } from "./store.js";
import { actionName, BLIND_NIL, isDraft, LOOK, reasonText, seatName, bidText, seatsOf } from "./words.js";

/** The panel of the seat to bid. */
export function bidPanel(state) {
  const highest = store.room.rules.hand_size;
  const numbers = Array.from({ length: highest }, (_, k) => bidButton(state, FIRST_BID + k + 1, num(k + 1)));
  return h(
    "section",
    { class: "panel bidding", "aria-label": t("Your bid") },
    h("h2", {}, t("How many tricks will you take?")),
    partnerLine(state),
    h("div", { class: "bids", dir: "ltr", on: { keydown: moveFocus } }, numbers),
    store.room.rules.nil_allowed ? bidButton(state, FIRST_BID, t("Nil: no trick at all"), "wide") : null,
  );
}

/** Arrow keys go from number to number. */
function moveFocus(event) {
  const all = [...event.currentTarget.children];
  const columns = getComputedStyle(event.currentTarget).gridTemplateColumns.split(" ").length;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const there = all[all.indexOf(document.activeElement) + steps[event.key]];
  if (!there) return;
  event.preventDefault();
  there.focus();
}

function bidButton(state, action, label, extra = "") {
  const legal = state.legal.includes(action);
  const why = state.why?.[action];
  const onClick = () => (legal ? act(action) : notice(reasonText(why)));
  const name = legal
    ? actionName(action)
    : t("{card}, not allowed: {reason}", { card: actionName(action), reason: reasonText(why) });
  return button(label, onClick, {
    key: `bid-${action}`,
    class: `bid-button ${extra}`,
    "data-action": action,
    "aria-label": name,
    "aria-disabled": legal ? null : "true",
  });
}

/** What the partner has bid, or what has been bid so far. */
function partnerLine(state) {
  const said = state.bids.flatMap((bid, seat) =>
    bid === null ? [] : [t("{name} bid {bid}", { name: seatName(state, seat), bid: bidText(state, seat) })],
  );
  const team = seatsOf(state, state.you % 2).reduce((sum, seat) => sum + (state.bids[seat] ?? 0), 0);
  const sum = team ? tn("Your team's contract so far is {n}.", "Your team's contract so far is {n}.", team) : null;
  return h(
    "p",
    { class: "quiet-text" },
    said.length ? said.join(" · ") : t("You bid first."),
    sum ? h("br") : null,
    sum,
  );
}

/** The panel of the seat that decides before seeing cards (R10, R28). */
export function blindPanel(state) {
  const value = store.room.rules.blind_nil_value;
  const blind = isDraft()
    ? t("Double nil: ±{points} points", { points: value })
    : t("Blind nil: ±{points} points", { points: value });
  const look = isDraft() ? t("Draw cards") : t("Look at my cards");
  const explain = isDraft()
    ? t("Before your first draw you may call double nil: no trick at all.")
    : t("Before you see your cards you may bid blind nil: no trick at all.");
  return h(
    "section",
    { class: "panel bidding blind", "aria-label": t("Your decision, before you see cards") },
    h("h2", {}, t("Your decision, before you see cards")),
    h("p", { class: "quiet-text" }, explain),
    partnerLineIfAny(state),
    h(
      "div",
      { class: "choices" },
      button(look, () => act(LOOK), { kind: "primary", key: "look", "data-action": LOOK }),
      state.legal.includes(BLIND_NIL)
        ? button(blind, () => act(BLIND_NIL), { key: "blind", "data-action": BLIND_NIL })
        : null,
    ),
  );
}

function partnerLineIfAny(state) {
  return state.bids.some((bid) => bid !== null) ? partnerLine(state) : null;
}
