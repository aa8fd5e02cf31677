// A short line that comes, is read out, and goes: why a card may not be played, what the server refused.

import { say } from "./announce.js";

const SHOWN_FOR = 4500;
let timer = null;

/** Show a line for some seconds, and say it. */
export function notice(text) {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.style.setProperty("bottom", `${spaceBelow()}px`);
  place.hidePopover();
  place.showPopover();
  place.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => hide(place), SHOWN_FOR);
  say(text);
}

function hide(place) {
  place.classList.remove("shown");
  place.hidePopover();
}

/** Above the hand, so that no card is covered; at the window's end where there is no hand. */
function spaceBelow() {
  const own = document.querySelector(".own")?.getBoundingClientRect();
  return own?.height ? Math.max(8, window.innerHeight - own.bottom) : 16;
}
