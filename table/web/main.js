// The page: connects, chooses what is shown, and shows it again whenever the store changes.

import { events, say } from "./announce.js";
import { chatPanel, showSaid } from "./chat.js";
import { connect } from "./client.js";
import { button, h, icon, render } from "./dom.js";
import { LANGUAGE_NAMES, preferredLanguage, t, useLanguage } from "./i18n.js";
import { hintPanel } from "./hint.js";
import { guideFocus, watchKeyboard } from "./keyboard.js";
import { lobbyPage } from "./lobby.js";
import { tablePanel } from "./menu.js";
import { applyAppearance } from "./preferences.js";
import { followSheet } from "./sheet.js";
import { preferences, store, subscribe, update } from "./store.js";
import { makeTable, showTable } from "./table.js";
import { followVoice, stop as stopVoice } from "./voice.js";
import { quickWaiting } from "./waiting.js";

const page = document.getElementById("page");
const side = document.getElementById("side");
let shown = null; // what the page is: "lobby", "waiting" or the code of a table, with its language

async function start() {
  applyAppearance();
  await useLanguage(preferredLanguage(Object.keys(LANGUAGE_NAMES), preferences.language)).catch(() =>
    useLanguage("en"),
  );
  subscribe(show);
  watchKeyboard();
  window.addEventListener("resize", () => store.state && showTable());
  connect();
  show(new Set());
}

function show(changed) {
  document.title =
    store.state?.turn !== undefined && store.state?.turn === store.state?.you ? t("Your turn – Spades") : t("Spades");
  document.getElementById("offline").hidden = store.connected || !store.welcome;
  document.getElementById("offline").textContent = t("The connection is gone. Coming back…");
  if (store.room && store.state) showRoom(changed);
  else showLobby(changed);
  showSide();
}

function showRoom(changed) {
  const name = `${store.room.code} ${document.documentElement.lang}`;
  if (shown !== name) render(page, makeTable());
  shown = name;
  showTable();
  if (changed.has("state")) {
    events(store.before, store.state).filter(Boolean).forEach(say);
    followSheet();
    followVoice();
    if (store.panel !== "hint" && store.hint) update({ hint: null });
  }
  if (changed.has("hint") && store.hint && store.panel !== "hint") update({ panel: "hint" });
  if (changed.has("said") && store.said.length) showSaid(store.said.at(-1));
  guideFocus();
}

function showLobby(changed) {
  const name = store.waiting ? "waiting" : "lobby";
  if (!store.room) stopVoice();
  const needed = ["welcome", "language", "choosing", "invited", "waiting", "room"].some((field) => changed.has(field));
  if (shown === name && !needed) return;
  shown = name;
  if (!store.welcome) render(page, h("p", { class: "loading" }, t("Connecting…")));
  else render(page, store.waiting ? quickWaiting(store.waiting) : lobbyPage());
}

const PANELS = {
  chat: [() => t("Chat"), chatPanel],
  hint: [() => t("Hints"), hintPanel],
  table: [() => t("This table"), tablePanel],
};

function showSide() {
  const panel = store.state ? PANELS[store.panel] : undefined;
  side.hidden = !panel;
  document.body.classList.toggle("with-side", Boolean(panel));
  if (!panel) return;
  const [title, content] = panel;
  const close = button(icon("close"), () => update({ panel: null }), {
    kind: "quiet",
    key: "side-close",
    "aria-label": t("Close"),
  });
  render(side, h("header", {}, h("h2", {}, title()), close), content());
  side.setAttribute("aria-label", title());
}

start();
