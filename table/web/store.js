// What the page knows: one object, told to everybody who listens; preferences and seat tokens outlive the page.

const listeners = new Set();

/** What the server said last (`welcome`, `room`: its "joined", `state`), talk, and what is open or chosen. */
export const store = {
  connected: false,
  welcome: null,
  room: null,
  state: null,
  before: null,
  waiting: null,
  invited: null,
  choosing: null,
  hint: null,
  said: [],
  unread: 0,
  muted: new Set(),
  lifted: null,
  panel: null,
};

/** Call `listener(changed names)` after every change. */
export function subscribe(listener) {
  listeners.add(listener);
}

/** Change some fields and tell everybody. */
export function update(changes) {
  Object.assign(store, changes);
  const names = new Set(Object.keys(changes));
  for (const listener of listeners) listener(names);
}

const DEFAULTS = { language: null, theme: "auto", deck: "two", name: "", settings: {} };

/** Preferences of this browser. */
export const preferences = { ...DEFAULTS, ...read(localStorage, "spades.preferences") };

/** Keep a preference. */
export function prefer(changes) {
  Object.assign(preferences, changes);
  write(localStorage, "spades.preferences", preferences);
  update({ preferences });
}

/** The token of this browser's seat at a table; this tab's first, else the one of an earlier visit. */
export function seatToken(code) {
  return read(sessionStorage, "spades.seats")?.[code] ?? read(localStorage, "spades.seats")?.[code] ?? null;
}

/** Keep a seat's token, or forget it (null). */
export function keepToken(code, token) {
  for (const storage of [sessionStorage, localStorage]) {
    const seats = read(storage, "spades.seats") ?? {};
    if (token === null) delete seats[code];
    else seats[code] = token;
    write(storage, "spades.seats", Object.fromEntries(Object.entries(seats).slice(-20)));
  }
}

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function write(storage, key, value) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // Private windows may refuse: the page works without a memory.
  }
}
