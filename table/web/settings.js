// The settings of a new table: rule set, target, who sits where, pace; every further rule behind "more".

import { create } from "./client.js";
import { h, render } from "./dom.js";
import { ruleField, select, toggle } from "./fields.js";
import { t, tn } from "./i18n.js";
import { backButton } from "./lobby.js";
import { presetName } from "./rulespage.js";
import { preferences, prefer, store } from "./store.js";
import { agentName, compass, errorText } from "./words.js";

const TARGETS = [200, 300, 500];
const PATIENCE = [30, 60, 120, 300]; // seconds
const ELSEWHERE = ["target", "players", "deal"]; // the target stands by itself, the other two are the preset's

/** The form for one kind of table. */
export function settingsForm(kind) {
  const form = new SettingsForm(kind);
  return form.element;
}

/** Keeps what is chosen while the form is open; the rules are a preset and what differs from it. */
class SettingsForm {
  constructor(kind) {
    this.kind = kind;
    const kept = preferences.settings[kind.kind] ?? {};
    this.preset = kept.preset in store.welcome.presets ? kept.preset : "classic";
    this.overrides = { ...kept.overrides };
    this.seats = kept.seats ?? [];
    this.speed = kept.speed ?? "normal";
    this.hint = kept.hint ?? "normal";
    this.claims = kept.claims ?? true;
    this.spectators = kept.spectators ?? true;
    this.patience = kept.patience ?? 60;
    this.more = false;
    this.element = h("form", { class: "settings", on: { submit: (event) => this.#start(event) } });
    this.#show();
  }

  /** The value of a rule field as it stands. */
  value(name) {
    return name in this.overrides ? this.overrides[name] : store.welcome.presets[this.preset][name];
  }

  set(name, value) {
    if (value === store.welcome.presets[this.preset][name]) delete this.overrides[name];
    else this.overrides[name] = value;
    this.#show();
  }

  #show(problem = null) {
    render(
      this.element,
      h("div", { class: "settings-head" }, backButton(), h("h2", {}, this.kind.title)),
      h(
        "section",
        { class: "group" },
        this.#presetField(),
        this.#targetField(),
        this.#speedField(),
        this.kind.mode === "play" ? null : this.#hintField(),
        this.#comforts(),
      ),
      h("section", { class: "group" }, h("h3", {}, t("Seats")), h("div", { class: "seat-fields" }, this.#seatFields())),
      h(
        "section",
        { class: "group" },
        h("h3", {}, t("Rules")),
        h("div", { class: "fields" }, this.#ruleFields("main")),
      ),
      this.#moreRules(),
      h("p", { class: "problem", role: "alert" }, problem),
      h(
        "div",
        { class: "choices" },
        h(
          "button",
          { type: "submit", class: "button primary", key: "start" },
          this.kind.kind === "room" ? t("Open the table") : t("Sit down"),
        ),
      ),
    );
  }

  #presetField() {
    const options = Object.keys(store.welcome.presets).map((name) => [name, presetName(name)]);
    return select(t("Rule set"), "preset", options, this.preset, (preset) => {
      this.preset = preset;
      this.overrides = {};
      this.#show();
    });
  }

  #targetField() {
    const target = this.value("target");
    const options = [...new Set([...TARGETS, target])]
      .sort((a, b) => a - b)
      .map((points) => [String(points), t("{points} points", { points })]);
    return select(t("Play to"), "target", options, String(target), (points) => this.set("target", Number(points)));
  }

  #speedField() {
    const speeds = [
      ["slow", t("slow")],
      ["normal", t("normal")],
      ["fast", t("fast")],
    ];
    return select(t("Speed"), "speed", speeds, this.speed, (speed) => (this.speed = speed));
  }

  #hintField() {
    return select(t("Hints from"), "hint", agentOptions(), this.hint, (agent) => (this.hint = agent));
  }

  /** What the table offers besides the rules. */
  #comforts() {
    const claims =
      this.kind.mode === "watch"
        ? null
        : toggle(t("Claim tricks that are certain"), "claims", this.claims, (on) => (this.claims = on));
    if (this.kind.kind !== "room") return claims;
    const waits = PATIENCE.map((n) => [String(n), tn("{n} second", "{n} seconds", n)]);
    return [
      claims,
      toggle(t("Others may watch"), "spectators", this.spectators, (on) => (this.spectators = on)),
      select(
        t("A bot plays for whoever thinks longer than"),
        "patience",
        waits,
        String(this.patience),
        (n) => (this.patience = Number(n)),
      ),
    ];
  }

  #seatFields() {
    return Array.from({ length: this.value("players") }, (_, seat) => {
      const options = this.#seatOptions(seat);
      const chosen = this.#seat(seat);
      const place = compass(seat, this.value("players"));
      const label = seat === 2 && this.kind.mode !== "watch" ? t("{seat} (partner)", { seat: place }) : place;
      return select(label, `seat-${seat}`, options, chosen, (agent) => (this.seats[seat] = agent));
    });
  }

  #seatOptions(seat) {
    if (seat === 0 && this.kind.mode !== "watch") return [["you", t("You")]];
    const free = this.kind.kind === "room" ? [["open", t("a friend")]] : [];
    return [...free, ...agentOptions()];
  }

  #seat(seat) {
    const options = this.#seatOptions(seat).map(([value]) => value);
    const usual = options.includes("open") ? "open" : options.includes("normal") ? "normal" : options[0];
    return options.includes(this.seats[seat]) ? this.seats[seat] : usual;
  }

  /** The controls of the rule fields in the server's group "main" or "more". */
  #ruleFields(group) {
    const fields = store.welcome.rule_fields.filter(
      (field) => field.group === group && !ELSEWHERE.includes(field.name),
    );
    return fields.map((field) => ruleField(this, field));
  }

  #moreRules() {
    const details = h(
      "details",
      { class: "group more", open: this.more },
      h("summary", { key: "more" }, t("More rules")),
      h("div", { class: "fields" }, this.#ruleFields("more")),
    );
    details.addEventListener("toggle", () => (this.more = details.open));
    return details;
  }

  async #start(event) {
    event.preventDefault();
    const seats = Array.from({ length: this.value("players") }, (_, seat) => this.#seat(seat));
    const { kind, mode } = this.kind;
    const { preset, overrides, speed, hint, claims, spectators, patience } = this;
    prefer({
      settings: {
        ...preferences.settings,
        [kind]: { preset, overrides, seats: this.seats, speed, hint, claims, spectators, patience },
      },
    });
    const refused = await create({
      rules: { preset, ...overrides },
      seats,
      mode,
      speed,
      hint,
      claims,
      spectators,
      patience,
    });
    if (refused) this.#show([h("strong", {}, errorText(refused)), " ", h("span", { dir: "ltr" }, refused.text)]);
  }
}

function agentOptions() {
  return store.welcome.agents.map(({ name }) => [name, agentName(name)]);
}
