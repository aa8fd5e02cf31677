// Keys for the whole table, and the focus where the next decision is, for those who play without a mouse.

import { send } from "./client.js";
import { hints, togglePanel } from "./menu.js";
import { openHistory } from "./sheet.js";
import { store } from "./store.js";
import { openLastTrick } from "./trick.js";

let byKeyboard = false;

/** Listen to keys, and to whether the person uses them. */
export function watchKeyboard() {
  document.addEventListener("keydown", (event) => {
    byKeyboard = true;
    shortcut(event);
  });
  document.addEventListener("dialogclosed", guideFocus);
  document.addEventListener("pointerdown", () => (byKeyboard = false), true);
}

const KEYS = {
  l: openLastTrick,
  s: openHistory,
  c: () => togglePanel("chat"),
  h: () => hints(store.room) && send({ t: "hint", n: store.state.n }),
};

function shortcut(event) {
  const elsewhere = event.target.closest("input, select, textarea, dialog");
  if (!store.state || elsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = KEYS[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

/** At her turn, bring the focus to the first thing she can do, unless she is busy elsewhere. */
export function guideFocus() {
  const { state } = store;
  if (!byKeyboard || !state || state.you === null || state.turn !== state.you || document.querySelector("dialog[open]"))
    return;
  const active = document.activeElement;
  const free = active === document.body || active.closest(".hand, .decision");
  if (!free || isLegal(active)) return;
  document.querySelector(".decision .button:not([aria-disabled=true]), .hand .card.legal")?.focus();
}

function isLegal(element) {
  return element.matches(".hand .card.legal, .decision .button:not([aria-disabled=true])");
}
