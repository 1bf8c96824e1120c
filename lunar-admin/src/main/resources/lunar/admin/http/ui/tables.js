// The tables of LUNs and sessions.

import { bytes, bytesPerSecond, count, duration, element, milliseconds, setText } from "./format.js";
import { errors, lunKey, sessionKey } from "./rates.js";
import { Table } from "./table.js";

/** Returns a column with one of the rates of a row. */
function rate(label, key, format, isWide = false) {
  return {
    label, isNumber: true, isWide, isRate: format === bytesPerSecond,
    text: (row) => format(row.rates[key]),
    value: (row) => row.rates[key],
  };
}

const IN_FLIGHT = {
  label: "In flight", isNumber: true, text: (row) => count(row.commands.inFlight),
  value: (row) => row.commands.inFlight,
};

/** Renders how much of its size a unit occupies, and how much more it can get of its store. */
function space(cell, lun) {
  if (lun.usedBytes === null || lun.usedBytes === undefined) {
    setText(cell, "–");
    return;
  }
  if (!cell.querySelector(".space")) {
    const bar = element("span", "space", element("span", "used"), element("span", "lacking"));
    bar.setAttribute("aria-hidden", "true");
    cell.replaceChildren(bar, element("span", "space-text"));
  }
  const size = Math.max(1, lun.sizeBytes);
  const used = Math.min(size, lun.usedBytes);
  const free = Math.min(size - used, lun.availableBytes ?? 0);
  const bar = cell.firstChild;
  bar.classList.toggle("full", free === 0 && used < size);
  bar.firstChild.style.width = `${100 * used / size}%`;
  bar.lastChild.style.width = `${100 * (size - used - free) / size}%`;
  setText(cell.lastChild, `${bytes(used)} used, ${bytes(free)} free`);
}

function limit(lun) {
  if (lun.limit === null || lun.limit === undefined) {
    return "none";
  }
  return typeof lun.limit === "object" ? Object.entries(lun.limit)
    .map(([name, value]) => `${name} ${value}`).join(", ") : lun.limit;
}

export function lunTable(place) {
  return new Table(place, "Logical units", [
    { label: "Target", text: (lun) => lun.target, value: (lun) => lun.target },
    { label: "LUN", isNumber: true, text: (lun) => lun.lun, value: (lun) => lun.lun },
    { label: "Device", isWide: true, text: (lun) => lun.uri, value: (lun) => lun.uri },
    {
      label: "Size", isNumber: true, value: (lun) => lun.sizeBytes,
      text: (lun) => bytes(lun.sizeBytes) + (lun.readOnly ? ", read-only" : ""),
    },
    rate("Read IOPS", "reads", count), rate("Write IOPS", "writes", count),
    rate("Read/s", "readBytes", bytesPerSecond), rate("Written/s", "writtenBytes", bytesPerSecond),
    rate("Read latency", "readMs", milliseconds),
    rate("Read 99%", "readMs99", milliseconds, true),
    rate("Write latency", "writeMs", milliseconds),
    rate("Write 99%", "writeMs99", milliseconds, true),
    IN_FLIGHT,
    {
      label: "Errors", isNumber: true, value: (lun) => errors(lun.commands),
      render: (cell, lun) => {
        setText(cell, count(errors(lun.commands)));
        cell.classList.toggle("error", errors(lun.commands) > 0);
      },
    },
    { label: "Space", render: space, value: (lun) => lun.usedBytes },
    { label: "Limit", text: limit, value: limit },
  ], lunKey);
}

/** Returns where the connections of a session come from. */
function origin(session) {
  return session.connections.map((one) =>
    one.initiator + (one.transport === "iscsi" ? "" : ` (${one.transport})`)).join(", ") || "–";
}

export function sessionTable(place) {
  const ageMs = (session) => session.now - Date.parse(session.since);
  return new Table(place, "Sessions", [
    {
      label: "Initiator", text: (session) => session.initiator,
      value: (session) => session.initiator,
    },
    { label: "From", text: origin, value: origin },
    { label: "Target", text: (session) => session.target, value: (session) => session.target },
    {
      label: "Age", isNumber: true, text: (session) => duration(ageMs(session) / 1000),
      value: ageMs,
    },
    IN_FLIGHT,
    rate("Read IOPS", "reads", count), rate("Write IOPS", "writes", count),
    rate("Read/s", "readBytes", bytesPerSecond), rate("Written/s", "writtenBytes", bytesPerSecond),
  ], sessionKey);
}
