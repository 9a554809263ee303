// Rollouts in words: how each stands, and how much worse a candidate may be.

import { NONE, percent } from "../lib/format.js";

export const STATUS = {
  running: { words: "running", tone: "accent" },
  paused: { words: "paused", tone: "warn" },
  completed: { words: "completed", tone: "good" },
  rolled_back: { words: "rolled back", tone: "bad" },
  aborted: { words: "aborted", tone: "warn" },
};

export const JUDGEMENTS = {
  breach: { words: "surely worse", tone: "bad" },
  unsure: { words: "not sure yet", tone: "accent" },
  enough: { words: "good enough for this stage", tone: "good" },
};

export const METRICS = {
  errors: "Errors", ttft: "TTFT", itl: "ITL", refusals: "Refusals", length: "Length of answers",
  invalid_tool_calls: "Invalid tool calls", quality: "Quality",
};

// Shares in percentage points of requests, ratios in per cent of what it was.
export function harmWords(kind, share) {
  if (share === null) return "unknown";
  const sign = share > 0 ? "+" : share < 0 ? "−" : "±";
  const size = Math.abs(share) * 100;
  return kind === "ratio" ? `${sign}${size.toFixed(1)}%` : `${sign}${size.toFixed(2)} pp`;
}

export function rangeWords(row) {
  if (row.high === null) return "nothing is known yet";
  return `${harmWords(row.kind, row.low)} to ${harmWords(row.kind, row.high)}`;
}

export function shareWords(share) {
  return share === null || share === undefined ? NONE : percent(share);
}

export function sidesWords(rollout) {
  return `${rollout.baseline.join(", ")} → ${rollout.candidate.join(", ")}`;
}

// A page of the API as one list: each rollout with where it stands.
export function rowsOf(page) {
  return page.rollouts.map((rollout, index) => ({ ...rollout, standing: page.standings[index] }));
}
