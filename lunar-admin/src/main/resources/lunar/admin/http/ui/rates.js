// Computes rates between two samples of the server, as lunar top does.

/** Bounds of the buckets of latencies in milliseconds: 1, 2 and 5 of each decade from 10 us to 10 s. */
const BOUNDS_MS = [];
for (let decade = 0.01; decade < 9999; decade *= 10) {
  BOUNDS_MS.push(decade, 2 * decade, 5 * decade);
}
BOUNDS_MS.push(10000);

const NO_RATES = Object.freeze({
  reads: null, writes: null, readBytes: null, writtenBytes: null,
  readMs: null, writeMs: null, readMs99: null, writeMs99: null,
});

/** A unit has the same counts at each of its LUNs of a target. */
const unitKey = (lun) => `${lun.target} ${lun.identity}`;

export const lunKey = (lun) => `${lun.target} ${lun.lun}`;
export const sessionKey = (session) => `${session.tsih} ${session.isid} ${session.since}`;

/** Whether two samples are of the same process, so that its counts go on. */
export function isSameServer(before, now) {
  return before.status.pid === now.status.pid && before.status.since === now.status.since;
}

/** Returns the number of commands that failed because of the unit, rather than of the initiator. */
export function errors(commands) {
  const conditions = commands.checkConditions ?? {};
  return ["medium_error", "hardware_error", "not_ready"]
    .reduce((sum, key) => sum + (conditions[key] ?? 0), 0);
}

/**
 * Returns the rates of all units together, of each LUN and of each session. They are unknown without an earlier
 * sample of the same server.
 */
export function rates(before, now) {
  const seconds = before ? (now.time - before.time) / 1000 : 0;
  if (seconds <= 0 || !isSameServer(before, now)) {
    return { total: NO_RATES, lun: () => NO_RATES, session: () => NO_RATES };
  }
  const units = between(before.luns, now.luns, unitKey);
  const sessions = between(before.sessions, now.sessions, sessionKey);
  return {
    total: perSecond([...units.values()].reduce(plus, difference({}, {})), seconds),
    lun: (lun) => perSecond(units.get(unitKey(lun)), seconds),
    session: (session) => perSecond(sessions.get(sessionKey(session)), seconds),
  };
}

function between(before, now, keyOf) {
  const earlier = new Map(before.map((one) => [keyOf(one), one.commands]));
  return new Map(now.map((one) =>
    [keyOf(one), difference(earlier.get(keyOf(one)) ?? {}, one.commands)]));
}

/** Returns what was counted between two reports; the earlier one is empty for a new unit or session. */
function difference(before, now) {
  const since = (key) => Math.max(0, (now[key] ?? 0) - (before[key] ?? 0));
  return {
    reads: since("reads"), writes: since("writes"),
    readBytes: since("readBytes"), writtenBytes: since("writtenBytes"),
    readLatency: latencySince(before.readLatency, now.readLatency),
    writeLatency: latencySince(before.writeLatency, now.writeLatency),
  };
}

function latencySince(before, now) {
  const earlier = before?.buckets ?? [];
  return {
    nanos: Math.max(0, (now?.totalNanos ?? 0) - (before?.totalNanos ?? 0)),
    buckets: (now?.buckets ?? []).map((n, i) => Math.max(0, n - (earlier[i] ?? 0))),
  };
}

function plus(one, other) {
  const latencies = (a, b) => ({
    nanos: a.nanos + b.nanos,
    buckets: b.buckets.map((n, i) => n + (a.buckets[i] ?? 0)),
  });
  return {
    reads: one.reads + other.reads, writes: one.writes + other.writes,
    readBytes: one.readBytes + other.readBytes,
    writtenBytes: one.writtenBytes + other.writtenBytes,
    readLatency: latencies(one.readLatency, other.readLatency),
    writeLatency: latencies(one.writeLatency, other.writeLatency),
  };
}

function perSecond(counted, seconds) {
  return {
    reads: counted.reads / seconds, writes: counted.writes / seconds,
    readBytes: counted.readBytes / seconds, writtenBytes: counted.writtenBytes / seconds,
    readMs: meanMs(counted.readLatency), writeMs: meanMs(counted.writeLatency),
    readMs99: quantileMs(counted.readLatency, 0.99),
    writeMs99: quantileMs(counted.writeLatency, 0.99),
  };
}

function meanMs(latency) {
  const total = latency.buckets.reduce((sum, n) => sum + n, 0);
  return total === 0 ? null : latency.nanos / total / 1e6;
}

/** Returns the bound below which a share of the commands was. */
function quantileMs(latency, share) {
  const total = latency.buckets.reduce((sum, n) => sum + n, 0);
  let left = Math.ceil(total * share);
  for (const [i, n] of latency.buckets.entries()) {
    left -= n;
    if (total > 0 && left <= 0) {
      return BOUNDS_MS[Math.min(i, BOUNDS_MS.length - 1)];
    }
  }
  return null;
}
