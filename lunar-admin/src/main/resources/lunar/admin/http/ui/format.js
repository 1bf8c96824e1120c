// Formats numbers as the lunar command does, and creates elements. Text of the server is only ever set as textContent.

const NONE = "–";

/** Formats bytes in the largest unit of which there is at least one: "1 GiB", "1.5 MiB". */
export function bytes(count) {
  const whole = Math.round(count);
  if (whole < 1024) {
    return `${whole} B`;
  }
  const unit = Math.min(6, Math.floor(Math.log2(whole) / 10));
  const value = whole / 2 ** (10 * unit);
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${"KMGTPE"[unit - 1]}iB`;
}

export function bytesPerSecond(rate) {
  return rate === null ? NONE : `${bytes(rate)}/s`;
}

export function count(number) {
  return number === null ? NONE : Math.round(number).toLocaleString("en-US");
}

const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact" });

/** Formats a number for an axis: "400", "20K", "1.5M". */
export function compact(number) {
  return COMPACT.format(number);
}

/** Formats milliseconds with three significant digits. */
export function milliseconds(ms) {
  if (ms === null) {
    return NONE;
  }
  if (ms >= 10000) {
    return `${(ms / 1000).toFixed(1)} s`;
  }
  return `${ms.toFixed(ms < 10 ? (ms < 1 ? 3 : 2) : ms < 100 ? 1 : 0)} ms`;
}

/** Formats seconds in two units: "3 d 4 h", "5 min 6 s". */
export function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s >= 86400) {
    return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
  }
  if (s >= 3600) {
    return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  }
  return s >= 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s} s`;
}

/** Formats milliseconds since the epoch as the time of day of the browser. */
export function timeOfDay(wall) {
  return new Date(wall).toLocaleTimeString("en-GB");
}

/** Returns "1 session", "2 sessions". */
export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Creates an element with a class and children, which are elements or text. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  made.append(...children);
  return made;
}

/** Creates text of the server, whose direction does not affect what surrounds it. */
export function foreign(text, className) {
  return element("bdi", className, String(text ?? ""));
}

/** Sets the text of an element, and leaves it alone if it has not changed. */
export function setText(target, text) {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}
