// The page's side of the protocol (docs/table_protocol.md): frames in become the store, wishes become frames.

import { Connection } from "./connection.js";
import { notice } from "./notice.js";
import { keepToken, preferences, seatToken, store, update } from "./store.js";
import { errorText, playerName } from "./words.js";

const VERSION = 1;
const KEPT_MESSAGES = 100;
const listeners = new Map();
let connection = null;

/** Connect to the server that served the page. */
export function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  connection = new Connection(`${scheme}://${location.host}/ws`, {
    open: greet,
    message: receive,
    closed: () => update({ connected: false }),
  });
}

/** Call `listener(frame)` for every frame of a kind that is not kept in the store ("rtc"). */
export function listen(kind, listener) {
  listeners.set(kind, listener);
}

/** Send a frame; an error is shown. */
export function send(frame) {
  const sent = connection.send(frame, (answer) => answer.t === "error" && complain(answer));
  if (sent === null) notice(errorText({ code: "offline" }));
}

/** Send a frame and wait for its answer; an error is shown, and null returned. */
export async function ask(frame) {
  try {
    return await connection.ask(frame);
  } catch (error) {
    complain(error);
    return null;
  }
}

/** Take an action at the table as it is shown. */
export function act(action) {
  update({ lifted: null });
  send({ t: "act", n: store.state.n, action });
}

/** Open a table of one's own; resolves to the refusal, or null. */
export async function create(settings) {
  try {
    await connection.ask({ t: "create", settings, name: playerName() });
    return null;
  } catch (error) {
    return error;
  }
}

/** Sit down at the table with this code, on the seat kept before if there is one. */
export async function join(code) {
  const token = seatToken(code);
  try {
    await connection.ask({ t: "join", code, name: playerName(), ...(token ? { token } : {}) });
  } catch (error) {
    if (error.code === "offline") return;
    if (token && error.code === "bad_token") {
      keepToken(code, null);
      await join(code);
      return;
    }
    complain(error);
    if (error.code === "no_such_room" || error.code === "full") goHome();
  }
}

/** Leave the table and go back to the lobby. */
export function leave() {
  send({ t: "leave" });
  if (store.room) keepToken(store.room.code, null);
  goHome();
}

/** Back to the lobby without a word to the server. */
function goHome() {
  history.replaceState(null, "", "/");
  update({
    room: null,
    invited: null,
    state: null,
    before: null,
    waiting: null,
    hint: null,
    said: [],
    unread: 0,
    panel: null,
  });
}

/** The address of a table on this server. */
export function roomPath(code) {
  return `/r/${code}`;
}

/** The code of the table in the page's address, or null. */
function codeInAddress() {
  return /^\/r\/(\w+)$/.exec(location.pathname)?.[1].toUpperCase() ?? null;
}

function greet() {
  connection.send({ t: "hello", v: VERSION });
}

async function receive(frame, asked) {
  const handler = HANDLERS[frame.t];
  if (handler) handler(frame, asked);
  else listeners.get(frame.t)?.(frame);
}

const HANDLERS = {
  welcome(frame) {
    update({ welcome: frame, connected: true });
    const code = store.room?.code ?? codeInAddress();
    if (code && !store.room && !seatToken(code) && !preferences.name) update({ invited: code });
    else if (code) join(code);
  },
  joined(frame) {
    if (frame.token) keepToken(frame.code, frame.token);
    history.replaceState(null, "", roomPath(frame.code));
    const sameRoom = store.room?.code === frame.code;
    update({
      room: { ...frame, rules: frame.settings.rules },
      waiting: null,
      invited: null,
      choosing: null,
      ...(sameRoom ? {} : { state: null, before: null, said: [], unread: 0, hint: null }),
    });
  },
  state(frame) {
    update({ before: store.state, state: frame, lifted: null, hint: store.hint?.n === frame.n ? store.hint : null });
  },
  left() {
    if (store.waiting) goHome();
  },
  waiting(frame) {
    update({ waiting: frame });
  },
  hint(frame) {
    update({ hint: frame });
  },
  said(frame) {
    if (store.muted.has(speaker(frame))) return;
    const unread = store.panel === "chat" ? 0 : store.unread + 1;
    update({ said: [...store.said, frame].slice(-KEPT_MESSAGES), unread });
  },
  error(frame, asked) {
    if (!asked) complain(frame);
    if (frame.code === "replaced") goHome();
  },
};

/** Whose messages a mute silences: a seat, or a spectator's name. */
export function speaker(frame) {
  return frame.seat ?? `name:${frame.name}`;
}

function complain(error) {
  notice(errorText(error));
}
