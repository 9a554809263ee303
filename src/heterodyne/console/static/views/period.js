// Which span of time a view shows, the earlier one it is compared with, and the questions that follow from them.

import { spanOf } from "../lib/widgets.js";

export const DAY_S = 86400;
const POINTS = 150;
const STEPS_S = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

export const WORDS = {
  "15m": "the last 15 minutes",
  "1h": "the last hour",
  "6h": "the last 6 hours",
  "24h": "the last 24 hours",
  "7d": "the last 7 days",
};

export const AGAINST = {
  nothing: "nothing",
  before: "the same span before",
  yesterday: "yesterday",
  week: "last week",
  custom: "a span that ends at…",
};

// The period that a value of the span picker means. It ends with a step, so that steps of two periods coincide.
export function periodOf(span, now = Date.now() / 1000) {
  const { since_at, until_at, isLive } = spanOf(span, now);
  const step = stepOf(until_at - since_at);
  const until = Math.ceil(until_at / step) * step;
  const length = Math.round((until_at - since_at) / step) * step;
  const since = isLive ? until - length : Math.floor(since_at / step) * step;
  return { since, until, step, isLive, words: isLive ? WORDS[span] ?? WORDS["1h"] : "the chosen span" };
}

// The earlier period to lay under a period; null where there is none, or `ends` is no moment.
export function earlierPeriod(period, against, ends) {
  const length = period.until - period.since;
  const shift = {
    before: length,
    yesterday: Math.ceil(length / DAY_S) * DAY_S,
    week: Math.ceil(length / (7 * DAY_S)) * 7 * DAY_S,
    custom: period.until - Math.round(Date.parse(ends) / 1000 / period.step) * period.step,
  }[against];
  if (!Number.isFinite(shift)) return null;
  const words = against === "custom" ? "the other span" : AGAINST[against];
  return { ...period, since: period.since - shift, until: period.until - shift, shift, words };
}

export function historyParams(period) {
  return { since_at: period.since, until_at: period.until, step_s: period.step };
}

// Every step of a page of history, whether anything happened in it or not.
export function stepsOf(page) {
  const times = [];
  const first = Math.floor(page.since_at / page.step_s) * page.step_s;
  for (let at = first; at < page.until_at; at += page.step_s) times.push(at);
  return times;
}

// The UTC days that a period touches and that have begun, as the books name them; `until` is left out of them.
export function daysOf(period, daysMin = 1, now = Date.now() / 1000) {
  const end = Math.min(period.until, now);
  const since = Math.min(period.since, end - (daysMin - 1) * DAY_S);
  return { since: utcDay(since), last: utcDay(end), until: utcDay(end + DAY_S) };
}

export function utcDay(at) {
  return new Date(at * 1000).toISOString().slice(0, 10);
}

function stepOf(length) {
  return STEPS_S.find((step) => length / step <= POINTS) ?? STEPS_S.at(-1);
}
