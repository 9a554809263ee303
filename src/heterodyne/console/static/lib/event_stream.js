// Server-sent events over a POST, which the browser's own EventSource cannot ask for.

import { ApiError, errorOf, HEADERS } from "./api.js";

// Calls onEvent({ name, data }) for each event until the answer ends; throws ApiError, or AbortError when it is
// stopped.
export async function postEvents(path, body, { signal, onEvent }) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", headers: { ...HEADERS, "content-type": "application/json" }, body: JSON.stringify(body),
      credentials: "same-origin", cache: "no-store", signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "not_connected", "The console cannot be reached. Is `heterodyne serve` running?");
  }
  if (!response.ok) throw await errorOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = eventParser(onEvent);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    parser(value);
  }
}

// -> a function that takes text in pieces of any length
export function eventParser(onEvent) {
  let rest = "";
  let name = "message";
  let data = [];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (data.length) onEvent({ name, data: data.join("\n") });
        name = "message";
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === "event") name = value;
      else if (field === "data") data.push(value);
    }
  };
}
