// What latency is looked at: the times that requests have, their percentiles, and the groups they are told apart by.

export const MEASURES = {
  ttft: "First token (TTFT)",
  itl: "Between tokens (ITL)",
  total: "Whole request",
  queue: "Queue",
};
export const PERCENTILES = { p50_ms: "p50", p90_ms: "p90", p99_ms: "p99", p999_ms: "p99.9" };
export const GROUPS = { pool: "pool", model: "model", hardware: "hardware", tier: "tier", class: "class" };

// The name of a line: the value of its group, or "everything" where nothing tells lines apart.
export function groupName(group) {
  const names = Object.values(group).map((name) => name || "(none)");
  return names.length ? names.join(" · ") : "everything";
}

// Values of a line at the times of a chart; null where nothing happened.
export function valuesAt(line, times, pick, shift = 0) {
  const byTime = new Map(line.points.map((point) => [point.at + shift, pick(point.figures)]));
  return times.map((at) => byTime.get(at) ?? null);
}

// How much a figure changed, as a share of what it was; null where that says nothing.
export function changeOf(now, before) {
  return now == null || before == null || before === 0 ? null : now / before - 1;
}
