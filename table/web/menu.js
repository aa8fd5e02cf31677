// The buttons above the table, and the side panel they open: chat, hints, deals, people.

import { ask, leave, roomPath, send } from "./client.js";
import { button, h, icon } from "./dom.js";
import { num, t } from "./i18n.js";
import { select } from "./fields.js";
import { appearanceButton } from "./preferences.js";
import { openHistory, saveFile } from "./sheet.js";
import { openRules } from "./rulespage.js";
import { store, update } from "./store.js";
import { openLastTrick } from "./trick.js";
import { voiceButton } from "./voice.js";

/** The buttons of the bar. */
export function tableMenu() {
  const { state, room } = store;
  const unread = store.unread ? h("span", { class: "unread" }, num(store.unread)) : null;
  return h(
    "nav",
    { class: "menu", "aria-label": t("Table") },
    small("last", t("Last trick"), openLastTrick, { "aria-disabled": state.last_trick ? null : "true" }),
    small("history", t("Score sheet"), () => openHistory()),
    small("rules", t("Rules"), () => openRules(room)),
    talks(room) ? panelButton("chat", t("Chat"), unread) : null,
    hints(room) ? panelButton("hint", t("Hints"), null) : null,
    voiceButton(),
    panelButton("table", t("This table"), null),
    appearanceButton(),
  );
}

/** Whether this table has other people to talk to. */
function talks(room) {
  return (
    room.settings.seats.some((seat) => seat === "open") ||
    (store.state?.seats ?? []).filter(({ kind }) => kind === "person").length > 1
  );
}

/** Whether hints may be asked for. */
export function hints(room) {
  return ["practice", "watch"].includes(room.settings.mode);
}

function small(name, label, onClick, props = {}) {
  return button([icon(name), h("span", { class: "menu-text" }, label)], onClick, {
    kind: "quiet",
    key: `menu-${name}`,
    title: label,
    "aria-label": label,
    ...props,
  });
}

function panelButton(name, label, extra) {
  const open = store.panel === name;
  const props = { "aria-expanded": String(open), "aria-controls": "side" };
  const node = small(name, label, () => togglePanel(name), props);
  if (extra) node.append(extra);
  return node;
}

/** Open a side panel, or close it. */
export function togglePanel(name) {
  const open = store.panel === name ? null : name;
  update({ panel: open, ...(open === "chat" ? { unread: 0 } : {}) });
}

/** "Report this deal": the record of the deal in progress, as far as this seat may know it. */
async function report() {
  const answer = await ask({ t: "report" });
  if (answer) saveFile(answer.file, `${answer.text}\n`);
}

/** The panel about the table itself: code and link, speed, leaving. */
export function tablePanel() {
  const { room, state } = store;
  const link = `${location.origin}${roomPath(room.code)}`;
  const speeds = [
    ["slow", t("slow")],
    ["normal", t("normal")],
    ["fast", t("fast")],
  ];
  return h(
    "div",
    { class: "form" },
    h(
      "p",
      {},
      t("Code of this table:"),
      " ",
      h("strong", { class: "code", dir: "ltr", "data-code": room.code }, room.code),
    ),
    h("p", { class: "quiet-text" }, t("Whoever opens this link sits down at a free seat, or watches:")),
    h("p", { class: "link", dir: "ltr" }, link),
    button(t("Copy the link"), () => navigator.clipboard?.writeText(link), { key: "copy-link" }),
    select(t("Speed"), "speed", speeds, state?.speed ?? room.settings.speed, (speed) => send({ t: "speed", speed })),
    state?.spectators ? h("p", { class: "quiet-text" }, t("Watching: {n}", { n: state.spectators })) : null,
    state?.phase === "waiting" ? null : button(t("Save what I know of this deal"), report, { key: "report-deal" }),
    button([icon("leave"), t("Leave the table")], leave, { key: "leave" }),
  );
}
