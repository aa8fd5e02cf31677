// What happens by itself, and in how many seconds: a bot that plays for somebody, the next deal, a quick match.

import { h } from "./dom.js";
import { tn } from "./i18n.js";
import { seatName } from "./words.js";

const ANNOUNCED = 20; // seconds before a bot plays for somebody

/** A line that counts down, or null where nothing happens by itself soon. */
export function clockLine(state) {
  if (!state.clock || (state.clock.what === "stand_in" && state.clock.seconds > ANNOUNCED)) return null;
  return countdown(state.clock.seconds, (seconds) => words(state, seconds));
}

/** A line with `wording(seconds left)`, brought up to date every second while it is on the page. */
export function countdown(seconds, wording) {
  const end = performance.now() + 1000 * seconds;
  const line = h("span", { class: "clock" }, wording(seconds));
  const tick = () => {
    if (!line.isConnected) return;
    line.textContent = wording(Math.max(0, Math.round((end - performance.now()) / 1000)));
    if (performance.now() < end) setTimeout(tick, 1000);
  };
  setTimeout(tick, 1000);
  return line;
}

function words(state, seconds) {
  if (state.clock.what === "deal") {
    return tn("The next deal begins in {n} second.", "The next deal begins in {n} seconds.", seconds);
  }
  if (state.turn === state.you) {
    return tn("A bot plays for you in {n} second.", "A bot plays for you in {n} seconds.", seconds);
  }
  const name = seatName(state, state.turn);
  return tn("A bot plays for {name} in {n} second.", "A bot plays for {name} in {n} seconds.", seconds, { name });
}
