// Voice between browsers by WebRTC, off until switched on; the server only passes the descriptions on.

import { listen, send } from "./client.js";
import { button, h, icon } from "./dom.js";
import { t } from "./i18n.js";
import { notice } from "./notice.js";
import { store, update } from "./store.js";

const peers = new Map(); // seat -> RTCPeerConnection
let microphone = null;

/** Seats that have voice on, as the server says. */
function speakers() {
  return (store.state?.seats ?? []).flatMap(({ voice }, seat) => (voice ? [seat] : []));
}

/** The switch, where there are other people. */
export function voiceButton() {
  const { state } = store;
  const others = state.seats.filter(({ kind }, seat) => kind === "person" && seat !== state.you).length;
  if (state.you === null || others === 0) return null;
  const on = microphone !== null;
  const label = on ? t("Voice is on") : t("Voice is off");
  return button(
    [icon(on ? "mic" : "mic-off"), h("span", { class: "menu-text" }, label)],
    () => (on ? stop() : start()),
    { kind: "quiet", key: "voice", "aria-pressed": String(on), "aria-label": t("Voice"), title: label },
  );
}

async function start() {
  try {
    microphone = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true },
    });
  } catch {
    notice(t("The microphone could not be opened."));
    return;
  }
  send({ t: "voice", on: true });
  update({ voice: true });
}

/** Switch voice off and forget all peers. */
export function stop() {
  if (!microphone) return;
  for (const track of microphone.getTracks()) track.stop();
  microphone = null;
  for (const seat of [...peers.keys()]) hangUp(seat);
  send({ t: "voice", on: false });
  update({ voice: false });
}

/** Call whoever switched voice on, and hang up on whoever left; of two seats the lower one calls. */
export function followVoice() {
  const you = store.state?.you ?? null;
  const on = speakers();
  for (const seat of [...peers.keys()]) if (!on.includes(seat)) hangUp(seat);
  if (!microphone || you === null || !on.includes(you)) return;
  for (const seat of on) if (seat > you && !peers.has(seat)) call(seat);
}

/** How many voices are connected, for tests and for the label. */
function connectedVoices() {
  return [...peers.values()].filter((peer) => peer.connectionState === "connected").length;
}

function peerOf(seat) {
  if (peers.has(seat)) return peers.get(seat);
  const peer = new RTCPeerConnection();
  peers.set(seat, peer);
  for (const track of microphone.getTracks()) peer.addTrack(track, microphone);
  peer.addEventListener("icecandidate", ({ candidate }) => candidate && tell(seat, "ice", candidate));
  peer.addEventListener("track", ({ streams }) => hear(seat, streams[0]));
  peer.addEventListener("connectionstatechange", () => {
    if (peer.connectionState === "failed") hangUp(seat);
    document.documentElement.dataset.voices = connectedVoices();
  });
  return peer;
}

async function call(seat) {
  const peer = peerOf(seat);
  await peer.setLocalDescription();
  tell(seat, "offer", peer.localDescription);
}

function tell(seat, kind, data) {
  send({ t: "rtc", to: seat, kind, data: JSON.stringify(data) });
}

function hear(seat, stream) {
  const audio = h("audio", { "data-voice": seat, autoplay: true });
  audio.srcObject = stream;
  document.querySelector(`audio[data-voice="${seat}"]`)?.remove();
  document.body.append(audio);
}

function hangUp(seat) {
  peers.get(seat)?.close();
  peers.delete(seat);
  document.querySelector(`audio[data-voice="${seat}"]`)?.remove();
  document.documentElement.dataset.voices = connectedVoices();
}

async function answer({ from, kind, data }) {
  if (!microphone) return;
  const content = JSON.parse(data);
  const peer = peerOf(from);
  if (kind === "offer") {
    await peer.setRemoteDescription(content);
    await peer.setLocalDescription();
    tell(from, "answer", peer.localDescription);
  } else if (kind === "answer") {
    await peer.setRemoteDescription(content);
  } else if (kind === "ice") {
    await peer.addIceCandidate(content);
  }
}

listen("rtc", (frame) => {
  answer(frame).catch(() => hangUp(frame.from));
});
