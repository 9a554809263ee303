// The admin API. Every call says that it comes from the console's own page, which no other site can make a browser say.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "ApiError";
    this.status = status; // 0: there was no answer
    this.code = code;
  }
}

// Dispatches "signed-out" when a session has ended.
export const signals = new EventTarget();

export const HEADERS = { "x-heterodyne-console": "1" };
const TIMEOUT_MS = 30000;

export const get = (path, params) => call("GET", path + query(params));
export const post = (path, body) => call("POST", path, body ?? {});
export const remove = (path) => call("DELETE", path);

// { a: 1, b: null, c: "" } -> "?a=1"
export function query(params) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    if (value !== null && value !== undefined && value !== "") said.set(name, value);
  }
  const line = said.toString();
  return line ? `?${line}` : "";
}

// What an answer that is no success says of itself.
export async function errorOf(response) {
  let said = null;
  try {
    said = (await response.json()).error;
  } catch {
    // A proxy in between, or a body cut short: the status is all there is.
  }
  if (response.status === 401) signals.dispatchEvent(new Event("signed-out"));
  const message = said?.message ?? `The console answered ${response.status} ${response.statusText}.`;
  return new ApiError(response.status, said?.code ?? "unknown", message);
}

async function call(method, path, body) {
  const headers = { ...HEADERS };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    if (error.name === "TimeoutError") {
      throw new ApiError(0, "timeout", `No answer within ${TIMEOUT_MS / 1000} s: ${path}`);
    }
    throw new ApiError(0, "not_connected", "The console cannot be reached. Is `heterodyne serve` running?");
  }
  if (!response.ok) throw await errorOf(response);
  return response.status === 204 ? null : response.json();
}
