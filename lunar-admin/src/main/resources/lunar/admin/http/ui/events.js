// Lists what has changed between two samples of the server.

import { element, foreign, plural, timeOfDay } from "./format.js";
import { isSameServer, lunKey, sessionKey } from "./rates.js";

const MAX_EVENTS = 200;
/** Sessions that come or go between two samples are listed one by one up to this number. */
const MAX_SESSIONS = 10;

const BAD_STATES = new Set(["degraded", "rebuilding", "failed"]);

/** Returns the differences of two samples, as texts with a tone: good, bad or none. */
export function changes(before, now) {
  if (!isSameServer(before, now)) {
    return [{ tone: "bad", text: `The server was restarted and is now process ${now.status.pid}` }];
  }
  return [...problemChanges(before, now), ...volumeChanges(before.volumes, now.volumes),
    ...lunChanges(before.luns, now.luns), ...sessionChanges(before.sessions, now.sessions)];
}

/** Returns what is only in the one list, and what is only in the other. */
function compare(before, now, keyOf) {
  const earlier = new Set(before.map(keyOf));
  const later = new Set(now.map(keyOf));
  return {
    came: now.filter((one) => !earlier.has(keyOf(one))),
    went: before.filter((one) => !later.has(keyOf(one))),
  };
}

function problemChanges(before, now) {
  // A count that grows is not another problem.
  const { came, went } = compare(before.status.problems, now.status.problems,
    (one) => one.replace(/, \d+ blocks/, ", blocks"));
  return [...came.map((problem) => ({ tone: "bad", text: `Problem: ${problem}` })),
    ...went.map((problem) => ({ tone: "good", text: `Resolved: ${problem}` }))];
}

function volumeChanges(before, now) {
  const { came, went } = compare(before, now, (volume) => volume.uuid);
  const list = [...came.map((volume) => ({ text: `Volume ${volume.volume} added` })),
    ...went.map((volume) => ({ text: `Volume ${volume.volume} removed` }))];
  const earlier = new Map(before.map((volume) => [volume.uuid, volume]));
  for (const volume of now) {
    const old = earlier.get(volume.uuid);
    if (!old) {
      continue;
    }
    if (old.state !== volume.state) {
      list.push({
        tone: BAD_STATES.has(volume.state) ? "bad" : "good",
        text: `${volume.volume}: ${old.state}, now ${volume.state}`,
      });
    }
    volume.slots.forEach((slot, i) => {
      const was = old.slots[i]?.state;
      if (was !== undefined && was !== slot.state) {
        list.push({
          tone: slot.state === "active" ? "good" : "bad",
          text: `${volume.volume} slot ${slot.slot}: ${was}, now ${slot.state}`,
        });
      }
    });
    const scans = compare(old.walks, volume.walks, (scan) => `${scan.kind} ${scan.slot}`);
    const name = (scan) => `${volume.volume}: ${scan.kind}${
      scan.slot === null ? "" : ` of slot ${scan.slot}`}`;
    list.push(...scans.came.map((scan) => ({ text: `${name(scan)} started` })),
      ...scans.went.map((scan) => ({ text: `${name(scan)} ended` })));
  }
  return list;
}

function lunChanges(before, now) {
  const { came, went } = compare(before, now, lunKey);
  return [...came.map((lun) => ({ text: `LUN ${lun.lun} of ${lun.target} added: ${lun.uri}` })),
    ...went.map((lun) => ({ text: `LUN ${lun.lun} of ${lun.target} removed` }))];
}

function sessionChanges(before, now) {
  const { came, went } = compare(before, now, sessionKey);
  return [...few(came, "opened"), ...few(went, "ended")];
}

function few(sessions, verb) {
  return sessions.length > MAX_SESSIONS ? [{ text: `${plural(sessions.length, "session")} ${verb}` }]
    : sessions.map((session) => ({
      text: `Session ${session.tsih} ${verb}: ${session.initiator} at ${session.target}`,
    }));
}

/** The list of events, the latest first. */
export class Events {
  #list;

  constructor(list) { this.#list = list; }

  add(tone, text, wall) {
    const time = element("time", "dim", timeOfDay(wall));
    time.dateTime = new Date(wall).toISOString();
    this.#list.prepend(element("li", tone ?? "", time, foreign(text)));
    while (this.#list.children.length > MAX_EVENTS) {
      this.#list.lastChild.remove();
    }
  }
}
