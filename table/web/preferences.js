// Appearance: language, light or dark, two or four colours; applied to the page's root.

import { button, h, icon, openDialog } from "./dom.js";
import { select } from "./fields.js";
import { LANGUAGE_NAMES, t, useLanguage } from "./i18n.js";
import { prefer, preferences, store, update } from "./store.js";

/** Apply theme and deck to the document. */
export function applyAppearance() {
  document.documentElement.dataset.theme = preferences.theme;
  document.documentElement.dataset.deck = preferences.deck;
}

/** The button that opens the dialog. */
export function appearanceButton() {
  return button(icon("tune"), openAppearance, {
    kind: "quiet",
    key: "appearance",
    "aria-label": t("Language and appearance"),
    title: t("Language and appearance"),
  });
}

function openAppearance() {
  const languages = (store.welcome?.languages ?? []).map((code) => [code, LANGUAGE_NAMES[code] ?? code]);
  const form = h(
    "div",
    { class: "form" },
    select(t("Language"), "language", languages, document.documentElement.lang, chooseLanguage),
    select(
      t("Light or dark"),
      "theme",
      [
        ["auto", t("as the system")],
        ["light", t("light")],
        ["dark", t("dark")],
      ],
      preferences.theme,
      chooseAppearance("theme"),
    ),
    select(
      t("Colours of the suits"),
      "deck",
      [
        ["two", t("two colours")],
        ["four", t("four colours")],
      ],
      preferences.deck,
      chooseAppearance("deck"),
    ),
  );
  openDialog(t("Language and appearance"), form, { key: "appearance", closeLabel: t("Close") });
}

function chooseAppearance(name) {
  return (value) => {
    prefer({ [name]: value });
    applyAppearance();
  };
}

async function chooseLanguage(code) {
  await useLanguage(code);
  prefer({ language: code });
  update({ language: code });
  openAppearance();
}
