// The call: one WebSocket to `weir call`, one connection for the video.
const by = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const chart = new CallChart(by("chart"));
const decisions = new DecisionList(by("decisions"));
const short = (value) => +value.toFixed(2);
const SETTINGS = {
  capacity: { key: "capacity_kbps", text: (value) => `${(value / 1000).toFixed(2)} Mbit/s` },
  delay_ms: { key: "delay_ms", text: (value) => `${short(value)} ms` },
  queue: { key: "queue_ms", text: (value) => `${short(value)} ms` },
  loss: { key: "loss_percent", text: (value) => `${short(value)} %` },
  cross: { key: "cross_kbps", text: (value) => `${(value / 1000).toFixed(2)} Mbit/s` },
};
let socket = null;
let connection = null;
let controllers = [];
let refused = false;
let before = null;
// The clock of the call, by the last message and this page's.
let clock = null;
// The sentence while no video flows.
let waiting = "";
let flows = false;
// The timer of another call after video has ceased to flow.
let again = null;

function say(sentence) {
  by("state").textContent = sentence;
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function time() {
  return clock === null ? null : clock.t + (performance.now() - clock.at) / 1000;
}

function open() {
  socket = new WebSocket(`ws://${location.host}/call`);
  socket.onopen = () => send({ token });
  socket.onmessage = (event) => take(JSON.parse(event.data));
  socket.onclose = (event) => {
    if (refused) return;
    say(event.reason || "weir call does not answer; the page tries again.");
    // 1001 is the end of the call.
    if (event.code !== 1001) setTimeout(open, 1000);
  };
}

function take(message) {
  const [kind, value] = Object.entries(message)[0];
  if (kind === "hello") greet(value);
  else if (kind === "answer") connection?.setRemoteDescription({ type: "answer", sdp: value }).catch((error) => say(error.message));
  else if (kind === "connected") flow(value);
  else if (kind === "decision") decisions.add(value);
  else if (kind === "status") show(value);
  else if (kind === "error") say(value);
  else if (kind === "refused") {
    refused = true;
    say(value);
  }
}

// After an end that this browser does not notice, only another call brings video back.
function flow(value) {
  say(value ? "The call runs." : waiting);
  clearTimeout(again);
  if (flows && !value) again = setTimeout(call, 5000);
  flows = value;
}

function greet(hello) {
  controllers = hello.controllers;
  by("controller").replaceChildren(...controllers.map(({ name }) => new Option(name, name)));
  by("controller").value = hello.controller;
  describe();
  draw(hello.path);
  waiting = hello.loopback
    ? "The call waits for the browser on a loopback address: Chromium needs --allow-loopback-in-peer-connection."
    : "The call waits for the browser.";
  if (connection === null || ["closed", "failed", "disconnected"].includes(connection.connectionState)) call();
}

// Shows the settings of the path as they are. Sliders reach as far as they must.
function draw(path) {
  for (const [id, { key, text }] of Object.entries(SETTINGS)) {
    const slider = by(id);
    if (slider.matches(":active")) continue;
    slider.min = Math.min(slider.min, path[key]);
    slider.max = Math.max(slider.max, path[key]);
    slider.value = path[key];
    by(`${id}-value`).textContent = text(path[key]);
  }
}

function describe() {
  const chosen = controllers.find(({ name }) => name === by("controller").value);
  by("summary").textContent = [chosen?.summary, chosen?.remark].filter(Boolean).join(". ");
}

async function call() {
  clearTimeout(again);
  flows = false;
  connection?.close();
  connection = null;
  // Without the socket the next greeting begins a call.
  if (socket.readyState !== WebSocket.OPEN) return;
  before = null;
  decisions.clear();
  const own = new RTCPeerConnection();
  connection = own;
  own.addTransceiver("video", { direction: "recvonly" });
  own.ontrack = (event) => { by("video").srcObject = new MediaStream([event.track]); };
  own.onconnectionstatechange = () => {
    if (own === connection && own.connectionState === "failed") call();
  };
  await own.setLocalDescription();
  if (own === connection) send({ offer: own.localDescription.sdp });
}

function show(status) {
  clock = { t: status.t, at: performance.now() };
  by("refused").textContent = status.refused;
  by("lost").textContent = status.dropped + status.lost;
  by("keys").textContent = status.key_frame_requests;
  draw(status.path);
  chart.add("capacity", status.t, status.path.capacity_kbps / 1000);
  if (status.target_kbps !== null) {
    by("target").textContent = `${(status.target_kbps / 1000).toFixed(2)} Mbit/s`;
    by("limit").textContent = status.limit;
    by("limit").title = status.limit_meaning;
    chart.add("target", status.t, status.target_kbps / 1000);
    chart.addLimit(status.t, status.limit);
  }
  if (status.frame_delay_ms !== null) {
    by("delay").textContent = `${status.frame_delay_ms.toFixed(0)} ms`;
    chart.add("delay", status.t, status.frame_delay_ms);
  }
  chart.draw(status.t);
}

// The browser's own figures: what it has received, and the pictures that it has decoded.
async function measure() {
  if (connection === null) return;
  const all = [...(await connection.getStats()).values()];
  const video = all.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  if (!video) return;
  const now = { at: video.timestamp, bytes: video.bytesReceived, pictures: video.framesDecoded ?? 0 };
  if (before === null || now.at < before[0].at) before = [now];
  before.push(now);
  while (now.at - before[1].at >= 1000) before.shift();
  const seconds = (now.at - before[0].at) / 1000;
  if (seconds < 0.4) return;
  const received = (now.bytes - before[0].bytes) * 8 / seconds / 1e6;
  by("received").textContent = `${received.toFixed(2)} Mbit/s`;
  by("pictures").textContent = ((now.pictures - before[0].pictures) / seconds).toFixed(0);
  if (time() !== null) chart.add("received", time(), received);
}

by("controller").onchange = () => {
  describe();
  send({ controller: by("controller").value });
};
for (const [id, { key, text }] of Object.entries(SETTINGS)) {
  by(id).oninput = () => {
    by(`${id}-value`).textContent = text(+by(id).value);
    send({ path: { [key]: +by(id).value } });
  };
}
setInterval(measure, 250);
open();
