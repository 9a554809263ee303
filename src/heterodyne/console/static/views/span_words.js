// The window of a figure in words: "the last hour, 13:05 – 14:05".

import { clock, dateTime } from "../lib/format.js";
import { DAY_S, daysOf } from "./period.js";

export function spanWords(period) {
  return `${period.words}, ${momentWords(period.since, period.until)}`;
}

export function momentWords(since, until) {
  const write = until - since < DAY_S && until > Date.now() / 1000 - DAY_S ? clock : dateTime;
  return [since, until].map((at) => write(at).replace(/:\d\d$/, "")).join(" – ");
}

export function dayWords(period, daysMin) {
  const days = daysOf(period, daysMin);
  return days.since === days.last ? `UTC day ${days.since}` : `UTC days ${days.since} – ${days.last}`;
}
