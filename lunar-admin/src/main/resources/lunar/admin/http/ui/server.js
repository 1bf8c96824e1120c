// Asks the API of the server, one request after the other, so that a page uses one of its few connections.

const TOKEN = "lunar-token";
/** A server under load may take as long; the lunar command waits as long, too. */
const TIMEOUT_MS = 30_000;

/** Thrown when the API needs a token, or another one. */
export class TokenNeeded extends Error {}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (text) => sessionStorage.setItem(TOKEN, text),
  remove: () => sessionStorage.removeItem(TOKEN),
  /** Whether a text can be a token of a server: 16 printable ASCII characters or more. */
  isPossible: (text) => /^[!-~]{16,}$/.test(text),
};

async function get(path, signal) {
  const secret = token.get();
  const headers = secret === null ? {} : { Authorization: `Bearer ${secret}` };
  const response = await fetch(path, { headers, signal, cache: "no-store" });
  if (response.status === 401) {
    throw new TokenNeeded();
  }
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new Error(body.error ?? `HTTP status ${response.status}`);
  }
  return response.json();
}

/** Takes a sample of the server; its time is that of the counts of the LUNs. */
export async function sample(stop) {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  const asked = performance.now();
  const { luns } = await get("/v1/luns", signal);
  const time = (asked + performance.now()) / 2;
  const { sessions } = await get("/v1/sessions", signal);
  const status = await get("/v1/status", signal);
  const { volumes } = await get("/v1/volumes", signal);
  return { time, wall: Date.now(), status, luns, sessions, volumes };
}
