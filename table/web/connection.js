// The one WebSocket: numbered requests, errors to whoever asked, and coming back by itself when it breaks.

const FIRST_WAIT = 400;
const LONGEST_WAIT = 8000;

/** A connection that keeps itself alive. `on`: {open(), message(frame), closed()}. */
export class Connection {
  #url;
  #on;
  #socket = null;
  #next = 1;
  #asked = new Map();
  #wait = FIRST_WAIT;

  constructor(url, on) {
    this.#url = url;
    this.#on = on;
    this.#open();
  }

  /** Send a frame; nothing is queued while the connection is down. Returns its number, or null. */
  send(frame, answered = null) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return null;
    const r = this.#next++;
    if (answered) this.#asked.set(r, answered);
    this.#socket.send(JSON.stringify({ ...frame, r }));
    return r;
  }

  /** Send a frame; a promise of its answer, rejected with the error frame. */
  ask(frame) {
    return new Promise((resolve, reject) => {
      const sent = this.send(frame, (answer) => (answer.t === "error" ? reject(answer) : resolve(answer)));
      if (sent === null) reject({ t: "error", code: "offline", text: "not connected" });
    });
  }

  #open() {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#wait = FIRST_WAIT;
      this.#on.open();
    });
    socket.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => this.#again());
  }

  #receive(frame) {
    const answered = this.#asked.get(frame.r);
    this.#asked.delete(frame.r);
    this.#on.message(frame, answered !== undefined);
    answered?.(frame);
  }

  #again() {
    this.#asked.clear();
    this.#on.closed();
    setTimeout(() => this.#open(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }
}
