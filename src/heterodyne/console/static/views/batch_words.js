// Batches in words: how each stands, how far it is, and when it will be done.

import { count, dayMinute, NONE, seconds } from "../lib/format.js";

const ID_SIGNS = 8; // of those that are drawn at random, that people read

export const STATUS = {
  validating: { words: "validating", tone: "" },
  in_progress: { words: "in progress", tone: "accent" },
  cancelling: { words: "cancelling", tone: "warn" },
  finalizing: { words: "writing results", tone: "accent" },
  completed: { words: "completed", tone: "good" },
  failed: { words: "failed", tone: "bad" },
  expired: { words: "expired", tone: "bad" },
  cancelled: { words: "cancelled", tone: "warn" },
};

// batch_5f2c9a1b…
export function idWords(id) {
  const cut = id.indexOf("_") + 1 + ID_SIGNS;
  return id.length > cut + 1 ? `${id.slice(0, cut)}…` : id;
}

// A share of one; null before its input was read.
export function progressOf(row) {
  const { total, completed, failed } = row.counts;
  return total ? (completed + failed) / total : null;
}

export function answeredWords(row) {
  const { total, completed, failed } = row.counts;
  if (!total) return "not counted yet";
  return `${count(completed + failed)} of ${count(total)}${failed ? `, ${count(failed)} failed` : ""}`;
}

export function forecastOf(row) {
  if (row.expected_at !== null && row.status === "in_progress") return `done by ${dayMinute(row.expected_at)}`;
  return row.status === "in_progress" ? "not known yet" : NONE;
}

// Empty where it is in time, or is worked on no more.
export function lateWords(row) {
  if (!row.is_late || row.status !== "in_progress") return "";
  return `${seconds(row.expected_at - row.expires_at)} after its window`;
}
