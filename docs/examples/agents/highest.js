// An agent for spades_env in plain JavaScript, for Node: no packages. docs/external_agents.md explains the protocol.
//
//   spades evaluate "process:node docs/examples/agents/highest.js" easy --deals 200
//
// Bids her high cards and plays as high as she may; the same moves as our own `highest`.
"use strict";

const RANKS = "23456789TJQKA";

function rank(card) {
  if (card === "LJ" || card === "BJ") return RANKS.length + (card === "BJ" ? 1 : 0); // above the aces
  return RANKS.indexOf(card[0]);
}

// Jokers are spades. A card's place in the order of ids: clubs, diamonds, hearts, spades.
function order(card) {
  return card[1] === "J" && "LB".includes(card[0]) ? 52 : "CDHS".indexOf(card[1]) * 13 + rank(card);
}

function highestCard(cards) {
  return cards.reduce((best, card) =>
    rank(card) > rank(best) || (rank(card) === rank(best) && order(card) < order(best)) ? card : best
  );
}

// The legal ordinary bid nearest to the number wished for, the lower of two.
function nearestBid(legal, wish) {
  const bids = legal.filter((text) => text.startsWith("bid ")).map((text) => Number(text.slice(4)));
  const off = (bid) => Math.abs(bid - wish);
  return "bid " + bids.reduce((best, bid) => (off(bid) < off(best) ? bid : best));
}

function wish(hand) {
  const spades = hand.filter((card) => order(card) >= 39).length;
  const high = hand.filter((card) => rank(card) >= RANKS.indexOf("K")).length;
  return Math.max(1, high + Math.max(0, spades - 3));
}

function choose(request) {
  switch (request.phase) {
    case "blind":
      return "look";
    case "bid":
      return nearestBid(request.legal, wish(request.hand));
    case "draft":
      return rank(request.draft.shown) >= RANKS.indexOf("8") ? "keep" : "take next";
    case "exchange":
      return "done";
    default:
      return highestCard(request.legal);
  }
}

function answer(line) {
  const message = JSON.parse(line);
  const reply =
    message.type === "hello"
      ? { type: "hello", protocol: "spades-agent", version: 1, name: "highest.js" }
      : { id: message.id, action: choose(message) };
  process.stdout.write(JSON.stringify(reply) + "\n");
}

require("readline").createInterface({ input: process.stdin }).on("line", answer);
