// A short line that comes, is read out, and goes: why a card may not be played, what the server refused.

import { say } from "./announce.js";

const SHOWN_FOR = 4500;
let timer = null;

/** Show a line for some seconds, and say it. */
export function notice(text) {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => place.classList.remove("shown"), SHOWN_FOR);
  say(text);
}
