// One limit in words and in use. Pure.

import { count, tokens, usd } from "../lib/format.js";

// The share of a limit that is used; null where there is no limit.
export function useOf(limit) {
  return limit && limit.limit > 0 ? limit.used / limit.limit : null;
}

export function limitWords(limit) {
  return limit.limit_name.replaceAll("_", " ").replace(/\busd\b/, "dollars");
}

export function amount(limit, value) {
  if (limit.limit_name.startsWith("usd")) return usd(value);
  return limit.limit_name.includes("token") ? tokens(value) : count(value);
}
