// The score sheet: itemised points after each deal, the history of all deals, and the way on.

import { ask, send } from "./client.js";
import { clockLine } from "./clock.js";
import { button, closeDialog, h, icon, openDialog, render } from "./dom.js";
import { num, signed, t } from "./i18n.js";
import { openReplay } from "./replay.js";
import { teamMark } from "./seats.js";
import { store } from "./store.js";
import { blindName, ownSeat, seatsOf, teamName } from "./words.js";

let shownFor = null;
let sheet = null;

/** Open the sheet when a deal is over, keep it up to date, and close it when the next deal begins. */
export function followSheet() {
  const { state } = store;
  const over = ["deal over", "match over"].includes(state.phase);
  const name = over ? `${state.code} ${state.match} ${state.deal}` : null;
  if (name !== shownFor) {
    shownFor = name;
    closeDialog("sheet");
    sheet = null;
    if (over) openSheet(state);
  } else if (sheet?.isConnected) {
    render(sheet, sheetContent(state));
  }
}

function openSheet(state) {
  const title = state.phase === "match over" ? ending(state) : t("Deal {n} is over", { n: state.deal + 1 });
  sheet = h("div", { class: "sheet" }, sheetContent(state));
  const dialog = openDialog(title, sheet, { key: "sheet", closeLabel: t("Close") });
  dialog.querySelector(".button.primary")?.focus();
}

function sheetContent(state) {
  const last = state.history.at(-1);
  return [last ? dealTable(state, last) : null, historyTable(state), sheetButtons(state, last)];
}

/** The sheet of the match so far, at any time. */
export function openHistory() {
  const { state } = store;
  const content = state.history.length
    ? historyTable(state)
    : h("p", { class: "quiet-text" }, t("No deal is finished yet."));
  openDialog(t("Score sheet"), h("div", { class: "sheet" }, content), { key: "history", closeLabel: t("Close") });
}

function ending(state) {
  if (state.winner === null) return t("The match ends without a winner");
  if (state.you === null) return t("{team} win the match", { team: teamName(state, state.winner) });
  return state.winner === state.you % 2 ? t("You win the match!") : t("You lose the match");
}

/** Items of one deal by team (R17-R22). */
function dealTable(state, deal) {
  const teams = [ownSeat(state) % 2, 1 - (ownSeat(state) % 2)];
  const row = (label, cells, kind = "") =>
    h(
      "tr",
      { class: kind },
      h("th", { scope: "row" }, label),
      cells.map((text) => h("td", { class: "number" }, text)),
    );
  const points = (label, item, kind) =>
    row(
      label,
      teams.map((team) => signed(deal.result[team][item])),
      kind,
    );
  return h(
    "table",
    { class: "deal-sheet" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td"),
        teams.map((team) =>
          h("th", { scope: "col" }, teamMark(state, team), h("span", { dir: "auto" }, teamName(state, team))),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      row(
        t("Bids"),
        teams.map((team) => bidsOf(state, deal, team)),
      ),
      row(
        t("Tricks"),
        teams.map((team) =>
          seatsOf(state, team)
            .map((seat) => num(deal.tricks[seat]))
            .join(" + "),
        ),
      ),
      points(t("Contract"), "contract"),
      points(t("Nil"), "nil"),
      row(
        t("Bags of this deal"),
        teams.map((team) => bagsText(deal.result[team])),
      ),
      points(t("Penalty for bags"), "penalty"),
      points(t("This deal"), "points", "sum"),
      row(
        t("Score"),
        teams.map((team) => num(deal.scores[team])),
        "total",
      ),
      row(
        t("Bags kept"),
        teams.map((team) => num(deal.bags[team])),
      ),
    ),
    boston(state, deal),
  );
}

function bagsText({ bags, bag_points: points }) {
  return bags ? t("{bags} ({points})", { bags, points: signed(points) }) : num(0);
}

function bidsOf(state, deal, team) {
  const said = (seat) => (deal.bids[seat] === 0 ? (deal.blind[seat] ? blindName() : t("nil")) : num(deal.bids[seat]));
  return seatsOf(state, team).map(said).join(" + ");
}

/** R16. */
function boston(state, deal) {
  const team = deal.result.findIndex((items) => items.boston);
  if (team < 0) return null;
  return h("caption", { class: "boston" }, t("Boston: {team} took every trick!", { team: teamName(state, team) }));
}

function historyTable(state) {
  const teams = [ownSeat(state) % 2, 1 - (ownSeat(state) % 2)];
  const rows = state.history.map((deal) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, num(deal.deal + 1)),
      teams.map((team) => [
        h("td", { class: "number" }, signed(deal.result[team].points)),
        h("td", { class: "number total" }, num(deal.scores[team])),
      ]),
      h(
        "td",
        {},
        button(icon("eye"), () => showDeal(deal), {
          kind: "quiet",
          "aria-label": t("Step through deal {n}", { n: deal.deal + 1 }),
        }),
      ),
    ),
  );
  const heads = teams.map((team) =>
    h("th", { scope: "colgroup", colspan: 2 }, teamMark(state, team), teamName(state, team)),
  );
  return h(
    "table",
    { class: "history" },
    h("caption", {}, t("All deals")),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("Deal")), heads, h("td"))),
    h("tbody", {}, rows),
  );
}

function sheetButtons(state, last) {
  return h(
    "div",
    { class: "choices" },
    state.you !== null || state.mode === "watch" ? goOn(state) : null,
    last ? button(t("Step through this deal"), () => showDeal(last), { key: "replay" }) : null,
    last ? button(t("Save this deal"), () => saveDeal(last), { key: "report" }) : null,
    clockLine(state),
  );
}

/** The next deal, or another match; whoever has said so waits for the other people. */
function goOn(state) {
  if (state.phase === "match over")
    return button(t("Another match"), () => send({ t: "again" }), { kind: "primary", key: "next" });
  if (state.seats[state.you]?.ready) return h("p", {}, t("Waiting for the others…"));
  return button(t("Next deal"), () => send({ t: "next", n: state.n }), { kind: "primary", key: "next" });
}

async function showDeal(deal) {
  const answer = await ask({ t: "deal", k: deal.k });
  if (answer) openReplay(answer.record, store.state);
}

async function saveDeal(deal) {
  const answer = await ask({ t: "deal", k: deal.k });
  if (answer) saveFile(`spades-deal-${store.room.code}-${deal.k + 1}.jsonl`, `${answer.text}\n`);
}

/** Hand a text over to the browser as a file to keep. */
export function saveFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
