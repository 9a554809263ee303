// The registry in words.

import { bytes } from "../lib/format.js";

const DIGEST_SIGNS = 12; // that people read

export const PARITY = {
  passed: { words: "passed", tone: "good" },
  failed: { words: "failed", tone: "bad" },
  unjudged: { words: "not judged", tone: "" },
};

export function digestWords(digest) {
  return digest.slice(0, DIGEST_SIGNS);
}

// disk 3.4 s, 2.4 GB/s
export function loadWords(load) {
  return `${load.tier} ${load.took_s.toFixed(1)} s, ${bytes(load.size_bytes / Math.max(load.took_s, 1e-6))}/s`;
}
