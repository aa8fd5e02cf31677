// What happens by itself, and in how many seconds: a bot that plays for somebody, the next deal.

import { h } from "./dom.js";
import { tn } from "./i18n.js";
import { seatName } from "./words.js";

/** A line that counts down, or null where nothing happens by itself soon. */
export function clockLine(state) {
  if (!state.clock || (state.clock.what === "stand_in" && state.clock.seconds > 20)) return null;
  const end = performance.now() + 1000 * state.clock.seconds;
  const line = h("span", { class: "clock" });
  const show = () => {
    line.textContent = words(state, Math.max(0, Math.round((end - performance.now()) / 1000)));
    if (performance.now() < end) setTimeout(() => line.isConnected && show(), 1000);
  };
  setTimeout(show); // once it is on the page
  line.textContent = words(state, state.clock.seconds);
  return line;
}

function words(state, seconds) {
  if (state.clock.what === "deal")
    return tn("The next deal begins in {n} second.", "The next deal begins in {n} seconds.", seconds);
  if (state.turn === state.you)
    return tn("A bot plays for you in {n} second.", "A bot plays for you in {n} seconds.", seconds);
  const name = seatName(state, state.turn);
  return tn("A bot plays for {name} in {n} second.", "A bot plays for {name} in {n} seconds.", seconds, { name });
}
