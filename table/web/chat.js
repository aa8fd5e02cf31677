// Short messages and emoji, by text only, with a mute for every speaker of this browser's own.

import { say } from "./announce.js";
import { send, speaker } from "./client.js";
import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { store, update } from "./store.js";
import { seatElement } from "./table.js";

const BUBBLE_FOR = 4000;
let draft = "";

/** The chat panel. */
export function chatPanel() {
  const lines = store.said.filter((frame) => !store.muted.has(speaker(frame))).map(line);
  return h(
    "div",
    { class: "chat" },
    h(
      "ol",
      { class: "lines", "aria-label": t("Messages") },
      lines.length ? lines : h("li", { class: "quiet-text" }, t("Nobody has said anything yet.")),
    ),
    h(
      "div",
      { class: "emoji", role: "group", "aria-label": t("Emoji") },
      store.welcome.emoji.map((emoji, k) =>
        button(emoji, () => send({ t: "say", emoji }), {
          kind: "quiet",
          key: `emoji-${k}`,
          "aria-label": t("Send {emoji}", { emoji }),
        }),
      ),
    ),
    form(),
    muted(),
  );
}

function form() {
  const box = h("input", {
    type: "text",
    maxlength: store.welcome.limits.text,
    value: draft,
    key: "chat-text",
    dir: "auto",
    autocomplete: "off",
    "aria-label": t("Message"),
    placeholder: t("Say something"),
    on: { input: (event) => (draft = event.target.value) },
  });
  const submit = (event) => {
    event.preventDefault();
    const text = draft.trim();
    if (!text) return;
    draft = "";
    box.value = "";
    send({ t: "say", text });
  };
  return h("form", { class: "say", on: { submit } }, box, h("button", { type: "submit", class: "button" }, t("Send")));
}

function line(frame) {
  const own = frame.seat !== null && frame.seat === store.state?.you;
  const mute = own
    ? null
    : button(t("Mute"), () => setMuted(frame), {
        kind: "quiet",
        class: "mute",
        "aria-label": t("Mute {name}", { name: frame.name }),
      });
  return h(
    "li",
    {},
    h("span", { class: "who", dir: "auto" }, own ? t("You") : frame.name),
    h("span", { class: "text", dir: "auto" }, frame.text),
    mute,
  );
}

function muted() {
  if (!store.muted.size) return null;
  return button(t("Hear everybody again"), () => update({ muted: new Set() }), { kind: "quiet", key: "unmute" });
}

function setMuted(frame) {
  update({ muted: new Set([...store.muted, speaker(frame)]) });
}

/** Show a message at the seat that said it, and say it. */
export function showSaid(frame) {
  say(t("{name}: {card}", { name: frame.name, card: frame.text }));
  if (frame.seat === null || !store.state) return;
  const place = seatElement(frame.seat);
  if (!place) return;
  document.querySelector(`.bubble.at-${frame.seat}`)?.remove();
  const bubble = h("p", { class: `bubble at-${frame.seat}`, dir: "auto", "aria-hidden": "true" }, frame.text);
  const box = place.getBoundingClientRect();
  document.body.append(bubble);
  const half = bubble.offsetWidth / 2;
  const middle = Math.min(window.innerWidth - half - 8, Math.max(half + 8, box.left + box.width / 2));
  bubble.style.setProperty("left", `${middle}px`);
  bubble.style.setProperty("top", `${box.bottom + 6}px`);
  setTimeout(() => bubble.remove(), BUBBLE_FOR);
}
