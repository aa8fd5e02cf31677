"use strict";

/* The deal viewer. What a step shows is worked out by functions of plain values, which Node tests; the part below them
   puts it into the page, as text alone. */

const SUITS = [["S", "♠", "spades"], ["H", "♥", "hearts"], ["D", "♦", "diamonds"], ["C", "♣", "clubs"]];
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "10" };
const JOKERS = { LJ: ["little", "little joker"], BJ: ["big", "big joker"] };
const PLACES = ["south", "west", "north", "east"];

/** A card's text as {suit, rank, symbol, name, red}; jokers are spades. */
function cardOf(text) {
  if (JOKERS[text]) {
    return { suit: "S", rank: JOKERS[text][0], symbol: "★", name: JOKERS[text][1], red: false };
  }
  const [suit, symbol, word] = SUITS.find((entry) => entry[0] === text[1]);
  return { suit, rank: text[0], symbol, name: (RANKS[text[0]] || text[0]) + " of " + word, red: suit === "H" || suit === "D" };
}

/** Where a seat sits on the board; two players sit opposite each other. */
function placeOf(deal, seat) {
  return deal.seats.length === 2 ? PLACES[2 * seat] : PLACES[seat];
}

/** The trick on the table after `step` steps: {number, plays: [[seat, card]], winner}, or null before the first card. */
function trickAt(deal, step) {
  const plays = deal.steps.slice(0, step).filter((entry) => entry[1] === "play");
  if (plays.length === 0) {
    return null;
  }
  const size = deal.seats.length;
  const number = Math.floor((plays.length - 1) / size);
  const trick = plays.slice(number * size).map((entry) => [entry[0], entry[2]]);
  return { number, plays: trick, winner: trick.length === size ? deal.winners[number] : null };
}

/** Everything that is shown after `step` steps. */
function positionAt(deal, step) {
  const taken = deal.steps.slice(0, step);
  const next = deal.steps[step];
  return {
    step,
    last: deal.steps.length,
    played: new Set(taken.filter((entry) => entry[1] === "play").map((entry) => entry[2])),
    trick: trickAt(deal, step),
    stand: deal.stands[step],
    turn: next ? next[0] : null,
    over: step === deal.steps.length,
    said: saidAt(deal, step),
  };
}

/** The last step in words. */
function saidAt(deal, step) {
  if (step === 0) {
    return "Dealt by " + deal.seats[deal.dealer] + ".";
  }
  const [seat, kind, text] = deal.steps[step - 1];
  if (kind === "call") {
    return deal.seats[seat] + ": " + text + ".";
  }
  const trick = trickAt(deal, step);
  const verb = trick.plays.length === 1 ? " leads the " : " plays the ";
  const won = trick.winner === null ? "" : " " + deal.seats[trick.winner] + " wins trick " + (trick.number + 1) + ".";
  return deal.seats[seat] + verb + cardOf(text).name + "." + won;
}

/** Deal (from 0) and step of an address such as #deal=3&step=10; what is missing or out of range is brought into it. */
function readHash(hash, deals) {
  const found = { deal: 0, step: 0, asked: false };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const match = /^(deal|step)=(\d{1,6})$/.exec(part);
    if (match) {
      found[match[1]] = Number(match[2]) - (match[1] === "deal" ? 1 : 0);
      found.asked = true;
    }
  }
  found.deal = Math.min(Math.max(found.deal, 0), deals.length - 1);
  found.step = Math.min(found.step, deals[found.deal].steps.length);
  return found;
}

function hashOf(deal, step) {
  return "#deal=" + (deal + 1) + "&step=" + step;
}

/** What a key does to the step, or null for a key that means nothing here. */
function stepOfKey(key, step, last) {
  const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: last }[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), last);
}

function start(deals) {
  const byId = (id) => document.getElementById("viewer-" + id);
  const viewer = document.getElementById("viewer");
  let at = readHash(location.hash, deals);

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function hand(deal, seat, position) {
    const now = position.trick ? position.trick.plays.map((play) => play[1]) : [];
    return SUITS.map(([suit, symbol, word]) => {
      const line = element("div", "suit");
      const cards = deal.hands[seat].filter((text) => cardOf(text).suit === suit);
      const mark = element("span", "symbol" + (suit === "H" || suit === "D" ? " red" : ""), symbol);
      mark.setAttribute("aria-label", word);
      mark.setAttribute("role", "img");
      const ranks = element("span", "ranks");
      for (const text of cards) {
        const gone = position.played.has(text) ? "gone" + (now.includes(text) ? " now" : "") : "";
        const rank = element("span", gone, cardOf(text).rank);
        if (gone) rank.setAttribute("aria-label", cardOf(text).rank + ", played");
        ranks.append(rank);
      }
      if (cards.length === 0) ranks.append(element("span", "detail", "–"));
      line.append(mark, ranks);
      return line;
    });
  }

  function seatBox(deal, seat, position) {
    const box = element("div", "seat" + (position.turn === seat ? " turn" : ""));
    box.style.gridArea = placeOf(deal, seat);
    const title = element("h4", "", deal.seats[seat] + (seat === deal.dealer ? " (dealer)" : ""));
    if (deal.names[seat]) title.append(element("span", "detail", " " + deal.names[seat]));
    const { bids, tricks } = position.stand;
    const tally = element("p", "tally", "bid " + bids[seat] + ", tricks " + tricks[seat]);
    box.append(title, tally, ...hand(deal, seat, position));
    return box;
  }

  function trickBox(deal, position) {
    const box = element("div", "trick");
    box.style.gridArea = "trick";
    box.setAttribute("aria-label", "Trick on the table");
    const { trick } = position;
    const middle = element("div", "middle", trick ? "trick " + (trick.number + 1) : "calls");
    middle.style.gridArea = "middle";
    box.append(middle);
    (trick ? trick.plays : []).forEach(([seat, text], place) => {
      const card = cardOf(text);
      const marks = (place === 0 ? " led" : "") + (seat === trick.winner ? " won" : "") + (card.red ? " red" : "");
      const shown = element("div", "card" + marks, card.rank + card.symbol);
      shown.style.gridArea = placeOf(deal, seat);
      shown.setAttribute("role", "img");
      shown.setAttribute("aria-label", deal.seats[seat] + ": " + card.name);
      box.append(shown);
    });
    return box;
  }

  function table(columns, rows) {
    const made = element("table");
    const head = element("tr");
    columns.forEach((name, k) => head.append(element("th", k === 0 ? "word" : "", name)));
    const body = element("tbody");
    for (const row of rows) {
      const line = element("tr");
      row.forEach((cell, k) => line.append(element("td", k === 0 ? "word" : "", String(cell))));
      body.append(line);
    }
    const top = element("thead");
    top.append(head);
    made.append(top, body);
    return made;
  }

  function sheet(deal, position) {
    const teams = [0, 1].map((team) => deal.seats.filter((_, seat) => seat % 2 === team).join(" & "));
    const signed = (value) => (value > 0 ? "+" : "") + value;
    const { need, bags, tricks } = position.stand;
    const taken = [0, 1].map((team) => tricks.filter((_, seat) => seat % 2 === team).reduce((a, b) => a + b, 0));
    if (!position.over || deal.outcome === null) {
      const rows = teams.map((name, k) => [name, taken[k], need[k], bags[k], deal.scores[k], deal.bags_before[k]]);
      return table(["team", "tricks", "still needs", "bags in this deal", "score before", "bags before"], rows);
    }
    const { result, scores, bags: counts } = deal.outcome;
    const rows = teams.map((name, k) => {
      const part = result[k];
      const points = [part.contract, part.nil, part.bag_points, part.penalty, part.points].map(signed);
      return [name + (part.boston ? ", boston" : ""), taken[k], part.bags, ...points, scores[k], counts[k]];
    });
    const columns = ["team", "tricks", "bags", "contract", "nil", "bag points", "penalty", "deal", "score", "bag count"];
    return table(columns, rows);
  }

  function show() {
    const deal = deals[at.deal];
    const position = positionAt(deal, at.step);
    byId("deal").value = String(at.deal);
    byId("count").textContent = "step " + at.step + " of " + position.last + (position.stand.broken ? ", spades broken" : "");
    byId("said").textContent = position.said;
    byId("board").replaceChildren(...deal.seats.map((_, seat) => seatBox(deal, seat, position)), trickBox(deal, position));
    byId("sheet").replaceChildren(sheet(deal, position));
    byId("first").disabled = byId("back").disabled = at.step === 0;
    byId("last").disabled = byId("forward").disabled = at.step === position.last;
  }

  function go(deal, step) {
    at = { deal, step };
    history.replaceState(null, "", hashOf(deal, step));
    show();
  }

  deals.forEach((deal, k) => {
    const option = element("option", "", k + 1 + ". " + deal.title + " (" + deal.rules + ")");
    option.value = String(k);
    byId("deal").append(option);
  });
  const last = () => deals[at.deal].steps.length;
  byId("deal").addEventListener("change", (event) => go(Number(event.target.value), 0));
  for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["forward", "ArrowRight"], ["last", "End"]]) {
    byId(id).addEventListener("click", () => go(at.deal, stepOfKey(key, at.step, last())));
  }
  viewer.addEventListener("keydown", (event) => {
    const inList = event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey;
    const step = inList ? null : stepOfKey(event.key, at.step, last());
    if (step !== null) {
      event.preventDefault();
      go(at.deal, step);
    }
  });
  window.addEventListener("hashchange", () => {
    const asked = readHash(location.hash, deals);
    if (asked.asked) {
      at = asked;
      show();
    }
  });
  viewer.hidden = false;
  show();
  if (at.asked) {
    viewer.scrollIntoView({ block: "start" });
    viewer.focus({ preventScroll: true });
  }
}

if (typeof document === "undefined") {
  module.exports = { cardOf, placeOf, trickAt, positionAt, saidAt, readHash, hashOf, stepOfKey };
} else {
  start(JSON.parse(document.getElementById("deal-data").textContent));
}
