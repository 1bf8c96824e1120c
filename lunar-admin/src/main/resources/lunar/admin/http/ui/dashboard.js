// The dashboard: polls the server once a second and shows what it reports.

import { Chart, SPAN_MS } from "./chart.js";
import { bytes, bytesPerSecond, compact, count, duration, element, foreign, milliseconds, plural,
  setText, timeOfDay } from "./format.js";
import { changes, Events } from "./events.js";
import { isSameServer, rates } from "./rates.js";
import { sample, token, TokenNeeded } from "./server.js";
import { lunTable, sessionTable } from "./tables.js";
import { Volumes } from "./volumes.js";

const INTERVAL_MS = 1000;
const QUICK_MS = 200;
const MAX_BACKOFF_MS = 15_000;
const SLOW_MS = 3000;

const at = (id) => document.getElementById(id);

let latest = null;
let history = [];
let failures = 0;
let timer = 0;
let ticker = 0;
let request = null;
let isPaused = false;
/** Whether polling was interrupted, so that the latest sample is too old to compute rates from. */
let isInterrupted = false;
let isAfterGap = false;
let nextTry = 0;

const events = new Events(at("events"));
const luns = lunTable(at("luns"));
const sessions = sessionTable(at("sessions"));
const volumes = new Volumes(at("volumes"));
const select = (point) => charts.forEach((chart) => chart.select(point));
const charts = [
  new Chart(at("throughput"), ["readBytes", "writtenBytes"], {
    title: "Throughput", labels: ["Read", "Written"], format: bytesPerSecond, axis: bytes,
    isBinary: true, floor: 4096,
  }, select),
  new Chart(at("iops"), ["reads", "writes"], {
    title: "IOPS", labels: ["Reads", "Writes"], format: count, axis: compact, floor: 20,
  }, select),
  new Chart(at("latency"), ["readMs", "writeMs"], {
    title: "Mean latency", labels: ["Reads", "Writes"], format: milliseconds,
    axis: (ms) => `${Number(ms.toPrecision(3))} ms`, floor: 0.1,
  }, select),
];

async function poll() {
  stop();
  if (document.hidden) {
    isInterrupted = true;
    link("", "Paused while hidden");
    return;
  }
  const mine = new AbortController();
  request = mine;
  const started = performance.now();
  const slow = setTimeout(() => link("warn", "Waiting for an answer"), SLOW_MS);
  let now;
  try {
    now = await sample(mine.signal);
  } catch (error) {
    if (request !== mine) {
      return; // stopped
    }
    if (error instanceof TokenNeeded) {
      askForToken();
    } else {
      fail(error);
    }
    return;
  } finally {
    clearTimeout(slow);
  }
  if (request === mine) {
    const took = performance.now() - started;
    // A page keeps the server busy a quarter of the time at most: a long list of sessions may take long.
    schedule(Math.max(took < QUICK_MS ? 0 : 3 * took, INTERVAL_MS - took));
    accept(now);
  }
}

function stop() {
  clearTimeout(timer);
  clearInterval(ticker);
  request?.abort();
  request = null;
}

function schedule(delayMs) {
  request = null;
  timer = setTimeout(poll, delayMs);
}

function link(tone, text) {
  at("link").className = `link ${tone}`;
  setText(at("link"), text);
}

function accept(now) {
  const before = latest;
  if (failures > 0) {
    events.add("good", "The server answers again", now.wall);
  }
  if (before !== null) {
    changes(before, now).forEach(({ tone, text }) => events.add(tone, text, now.wall));
    if (!isSameServer(before, now)) {
      history = [];
    }
  }
  failures = 0;
  latest = now;
  at("login").hidden = true;
  at("board").hidden = false;
  at("retry").hidden = true;
  at("pause").hidden = false;
  at("forget").hidden = token.get() === null;
  link("good", "Live");
  show(before, now);
}

function show(before, now) {
  const rate = rates(isInterrupted ? null : before, now);
  isInterrupted = false;
  if (rate.total.reads === null) {
    isAfterGap = true;
  } else {
    history = [...history.filter((point) => now.time - point.time <= SPAN_MS),
      { time: now.time, wall: now.wall, isGap: isAfterGap, ...rate.total }];
    isAfterGap = false;
  }
  charts.forEach((chart) => chart.draw(history));
  showHealth(now);
  luns.show("Limit", now.luns.some((lun) => (lun.limit ?? null) !== null));
  luns.update(now.luns.map((lun) => ({ ...lun, rates: rate.lun(lun) })));
  const serverTime = Date.parse(now.status.since) + now.status.uptimeSeconds * 1000;
  sessions.update(now.sessions.map((session) =>
    ({ ...session, rates: rate.session(session), now: serverTime })));
  volumes.update(now.volumes);
  at("board").classList.toggle("without-volumes", now.volumes.length === 0);
  at("volumes-panel").hidden = now.volumes.length === 0;
  setText(at("luns-count"), count(now.luns.length));
  setText(at("sessions-count"), count(now.sessions.length));
  setText(at("volumes-count"), count(now.volumes.length));
}

let shownHealth = "";

function health(state, title, lines) {
  const shape = JSON.stringify([state, title, lines]);
  if (shape !== shownHealth) { // a live region: announced when it changes
    shownHealth = shape;
    at("health").replaceChildren(element("p", `state ${state}`, title),
      ...(lines.length ? [element("ul", "problems",
        ...lines.map((line) => element("li", "", foreign(line))))] : []));
  }
  document.title = `Lunar: ${title}`;
}

function showHealth({ status, luns: units }) {
  const { problems } = status;
  if (status.status === "ok") {
    health("good", "All is well", []);
  } else {
    health("bad", `${plural(problems.length, "problem")}`, problems);
  }
  setText(at("identity"), `${status.version} · process ${status.pid} · up ${
    duration(status.uptimeSeconds)}`);
  const inFlight = units.reduce((sum, lun) => sum + (lun.commands.inFlight ?? 0), 0);
  showFacts([["Targets", count(status.targets)], ["LUNs", count(status.luns)],
    ["Sessions", count(status.sessions)], ["Connections", count(status.connections)],
    ["In flight", count(inFlight)], ["Buffers", bytes(status.bufferBytesInUse)],
    ["Portals", status.portals.join(", ")]]);
}

function showFacts(facts) {
  const list = at("facts");
  if (list.children.length === 0) {
    list.append(...facts.map(([name]) =>
      element("div", "", element("dt", "", name), element("dd", ""))));
  }
  facts.forEach(([, value], i) => setText(list.children[i].lastChild, value));
}

function fail(error) {
  failures++;
  isInterrupted = true;
  const isSilent = error instanceof TypeError || error instanceof DOMException; // of fetch
  const why = isSilent ? "The server does not answer" : error.message;
  if (failures === 1 && latest !== null) {
    events.add("bad", why, Date.now());
  }
  health("bad", "Unknown", [latest === null ? why
    : `${why}. All values are of ${timeOfDay(latest.wall)}.`]);
  const delay = Math.min(MAX_BACKOFF_MS, INTERVAL_MS * 2 ** (failures - 1));
  nextTry = performance.now() + delay;
  schedule(delay);
  countDown(why);
  ticker = setInterval(() => countDown(why), 1000);
  at("retry").hidden = false;
}

function countDown(why) {
  const seconds = Math.max(1, Math.round((nextTry - performance.now()) / 1000));
  link("bad", `${why}; next try in ${seconds} s`);
}

function askForToken() {
  const wasRefused = token.get() !== null;
  token.remove();
  latest = null;
  history = [];
  failures = 0;
  isInterrupted = true;
  luns.update([]);
  sessions.update([]);
  volumes.update([]);
  at("events").replaceChildren();
  ["board", "pause", "retry", "forget"].forEach((id) => { at(id).hidden = true; });
  at("login").hidden = false;
  link("", "");
  setText(at("identity"), "");
  document.title = "Lunar: token needed";
  refuseToken(wasRefused ? "The server does not accept this token." : "");
}

function refuseToken(why) {
  setText(at("login-error"), why);
  at("token").setAttribute("aria-invalid", String(why !== ""));
  at("token").focus();
}

function pause(paused) {
  isPaused = paused;
  at("pause").setAttribute("aria-pressed", String(paused));
  if (isPaused) {
    stop();
    isInterrupted = true;
    at("retry").hidden = true;
    link("", "Paused");
  } else {
    poll();
  }
}

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("token").value.trim();
  if (!token.isPossible(text)) {
    refuseToken("A token has at least 16 printable ASCII characters, without spaces.");
    return;
  }
  at("token").value = "";
  refuseToken("");
  token.set(text);
  poll();
});
at("pause").addEventListener("click", () => pause(!isPaused));
at("retry").addEventListener("click", poll);
at("forget").addEventListener("click", () => {
  token.remove();
  location.reload(); // nothing of the server stays in the page
});
document.addEventListener("visibilitychange", () => {
  if (!isPaused && at("login").hidden) {
    poll();
  }
});
poll();
