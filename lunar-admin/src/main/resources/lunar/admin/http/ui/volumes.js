// Shows RAID volumes with their members and background scans.

import { bytes, bytesPerSecond, duration, element, foreign, plural, setText } from "./format.js";

/** Classes of the states of volumes and members; others are shown without a colour. */
const TONES = {
  clean: "good", active: "good", resyncing: "busy", reshaping: "busy", rebuilding: "warn",
  degraded: "warn", failed: "bad", missing: "bad",
};

/** Creates the text of a state with its colour. */
function badge(state, tone = TONES[state] ?? "") {
  return element("span", `badge ${tone}`.trim(), String(state));
}

/** A volume; its elements are created anew when more than figures have changed. */
class Card {
  element = element("article", "volume");
  #shape = "";
  #traffic = element("span", "");
  #scans = [];

  update(volume) {
    const shape = JSON.stringify({
      ...volume, traffic: null, walks: volume.walks.map((scan) => [scan.kind, scan.slot]),
    });
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#build(volume);
    }
    const { readBytesPerSecond, writtenBytesPerSecond } = volume.traffic ?? {};
    setText(this.#traffic, `read ${bytesPerSecond(readBytesPerSecond ?? null)},`
      + ` written ${bytesPerSecond(writtenBytesPerSecond ?? null)}`);
    volume.walks.forEach((scan, i) => {
      const { bar, text } = this.#scans[i];
      bar.value = scan.percent;
      setText(text, `${scan.percent.toFixed(1)} %, ${bytesPerSecond(scan.bytesPerSecond)}, ${
        scan.secondsLeft === null ? "time left unknown" : `${duration(scan.secondsLeft)} left`}`);
    });
  }

  #build(volume) {
    const head = element("h3", "", foreign(volume.volume), badge(volume.state));
    const what = element("p", "dim", describe(volume), " · ", this.#traffic);
    const members = element("ul", "members", ...volume.slots.map(member),
      ...volume.spares.map(spare));
    if (volume.journal) {
      members.append(device("journal", badge("in use"), volume.journal, ""));
    }
    this.#scans = volume.walks.map(scanElements);
    this.element.replaceChildren(head, what, members,
      ...this.#scans.map((scan) => scan.element), ...remarks(volume));
  }
}

function describe(volume) {
  return [`RAID ${volume.level.replace(/^raid/, "")}`.replace("RAID linear", "linear"),
    bytes(volume.sizeBytes), volume.chunkBytes ? `chunk ${bytes(volume.chunkBytes)}` : "",
    volume.consistency === "none" ? "" : `${volume.consistency}`,
    volume.checksums ? "checksums" : ""].filter(Boolean).join(" · ");
}

function member(slot) {
  const counts = [slot.repairs ? `${plural(slot.repairs, "repair")}` : "",
    slot.errors ? `${plural(slot.errors, "lost range")}` : ""].filter(Boolean);
  return device(`slot ${slot.slot}`, badge(slot.state), slot.uri,
    [slot.why, ...counts].filter(Boolean).join("; "));
}

function spare(one) {
  const state = one.why ? badge("unusable", "warn") : badge("ready");
  return device("spare", state, one.uri || "place unknown", one.why);
}

function device(name, state, uri, why) {
  const item = element("li", state.className.replace("badge", "member"), element("span", "slot", name), state,
    foreign(uri, "uri"));
  if (why) {
    item.append(foreign(why, "why"));
  }
  return item;
}

function scanElements(scan) {
  const bar = element("progress");
  bar.max = 100;
  const name = scan.slot === null ? scan.kind : `${scan.kind} of slot ${scan.slot}`;
  bar.setAttribute("aria-label", name);
  const text = element("span", "figures");
  return {
    bar, text,
    element: element("div", "scan", element("span", "scan-name", name), bar, text),
  };
}

function remarks(volume) {
  const lines = [];
  if (volume.badBlocks > 0) {
    lines.push(element("p", "error", `${plural(volume.badBlocks, "block")} lost their content`));
  }
  const scrub = volume.lastScrub;
  if (scrub) {
    lines.push(element("p", "dim", "last scrub: ", foreign(scrub.clean ? "clean"
      : scrub.why || [plural(scrub.mismatches, "mismatch").replace("mismatchs", "mismatches"),
        plural(scrub.repairs, "repair"), `${scrub.skipped} skipped`].join(", "))));
  }
  return lines;
}

/** The volumes of a server. */
export class Volumes {
  #place;
  #cards = new Map();

  constructor(place) { this.#place = place; }

  update(volumes) {
    const cards = new Map(volumes.map((volume) =>
      [volume.uuid, this.#cards.get(volume.uuid) ?? new Card()]));
    volumes.forEach((volume) => cards.get(volume.uuid).update(volume));
    const elements = [...cards.values()].map((card) => card.element);
    if (elements.length !== this.#place.children.length
        || elements.some((one, i) => one !== this.#place.children[i])) {
      this.#place.replaceChildren(...elements);
    }
    this.#cards = cards;
  }
}
