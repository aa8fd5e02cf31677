// The first page: how to play, alone or together, and the settings of a new table.

import { join, send } from "./client.js";
import { face } from "./cards.js";
import { button, h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { appearanceButton } from "./preferences.js";
import { settingsForm } from "./settings.js";
import { preferences, prefer, store, update } from "./store.js";
import { playerName } from "./words.js";

const LONGEST_NAME = 24;
const CODE_LENGTH = 8;

/** The lobby, or the settings of the kind of table chosen in it. */
export function lobbyPage() {
  const chosen = KINDS().find(({ kind }) => kind === store.choosing);
  const content = chosen ? settingsForm(chosen) : store.invited ? invitation() : [nameField(), kinds()];
  return h("main", { class: "lobby", id: "main" }, heading(), content);
}

/** For whoever opens a friend's link for the first time: a name, then the seat. */
function invitation() {
  const submit = (event) => {
    event.preventDefault();
    prefer({ name: event.target.elements.name.value.trim() });
    join(store.invited);
  };
  return h(
    "form",
    { class: "panel form invitation", on: { submit } },
    h("h2", {}, t("A friend has invited you to a table")),
    nameField(),
    h("button", { type: "submit", class: "button primary", key: "sit-down" }, t("Sit down")),
  );
}

function heading() {
  const cards = [51, 36, 9, 26 + 8];
  return h(
    "header",
    { class: "hero" },
    h(
      "div",
      { class: "hero-cards", "aria-hidden": "true", dir: "ltr" },
      cards.map((card) => face(card)),
    ),
    h(
      "div",
      { class: "hero-text" },
      h("h1", {}, t("Spades")),
      h("p", {}, t("Sit down with the agents, or with friends. No account, nothing to install.")),
    ),
    appearanceButton(),
  );
}

function nameField() {
  const box = h("input", {
    type: "text",
    key: "name",
    name: "name",
    maxlength: LONGEST_NAME,
    value: preferences.name,
    dir: "auto",
    autocomplete: "nickname",
    placeholder: t("Your name"),
    on: { change: (event) => prefer({ name: event.target.value.trim() }) },
  });
  return h("label", { class: "field name-field" }, h("span", {}, t("Your name at the table")), box);
}

/** Kinds of tables: what each is called, and who may sit on its seats. */
function KINDS() {
  return [
    {
      kind: "alone",
      mode: "play",
      icon: "spade",
      title: t("Play with bots"),
      text: t("You, a bot for a partner, two against you."),
    },
    {
      kind: "practice",
      mode: "practice",
      icon: "hint",
      title: t("Practice"),
      text: t("Hints, estimates, and taking back."),
    },
    {
      kind: "watch",
      mode: "watch",
      icon: "eye",
      title: t("Watch bots"),
      text: t("All hands open, step by step if you like."),
    },
    {
      kind: "room",
      mode: "play",
      icon: "friends",
      title: t("Play with friends"),
      text: t("A table with a code and a link; bots fill free seats."),
    },
  ];
}

function kinds() {
  const cards = KINDS().map(({ kind, icon: name, title, text }) =>
    h(
      "button",
      { type: "button", class: "kind", key: `kind-${kind}`, on: { click: () => update({ choosing: kind }) } },
      icon(name),
      h("strong", {}, title),
      h("span", {}, text),
    ),
  );
  const quick = h(
    "button",
    { type: "button", class: "kind", key: "kind-quick", on: { click: lookForPlayers } },
    icon("quick"),
    h("strong", {}, t("Quick match")),
    h("span", {}, t("With whoever is looking too; bots after a short wait.")),
  );
  return h("div", { class: "kinds" }, cards, quick, codeForm());
}

/** Ask for strangers to play with. */
function lookForPlayers() {
  send({ t: "quick", name: playerName(), rules: "classic" });
}

function codeForm() {
  const box = h("input", {
    type: "text",
    key: "code",
    maxlength: CODE_LENGTH + 2,
    dir: "ltr",
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
    "aria-label": t("Code of a table"),
  });
  const submit = (event) => {
    event.preventDefault();
    const code = box.value.trim().toUpperCase();
    if (code) join(code);
  };
  return h(
    "form",
    { class: "code-form", on: { submit } },
    h("label", { class: "field" }, h("span", {}, t("Or join a table by its code")), box),
    h("button", { type: "submit", class: "button" }, t("Join")),
  );
}

/** The way back from the settings. */
export function backButton() {
  return button([icon("back"), t("Back")], () => update({ choosing: null }), { kind: "quiet", key: "settings-back" });
}
