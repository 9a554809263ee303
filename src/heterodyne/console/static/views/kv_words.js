// The words of KV: whence it comes, and what to set where there is none.

import { tokens } from "../lib/format.js";
import { shareBar } from "./share_bar.js";

export const ORIGINS = {
  computed: { words: "computed", tone: "free" },
  own: { words: "held already", tone: 1 },
  host: { words: "from its host", tone: 5 },
  peer: { words: "from a peer", tone: 3 },
  store: { words: "from a store", tone: 2 },
  prefill: { words: "prefilled elsewhere", tone: 4 },
};
export const OFF = [
  "No prompt is looked at.",
  "All models have `kv = \"stateless\"`. Set `kv` of `[models.NAME]` to `prefix`, `store`, `split` or `auto`.",
];
export const STILL = [
  "No KV is moved here.",
  "Set `kv = \"auto\"` for a model, and `kv_transfer` and `version` for its pools, as the guide on KV says.",
];

const ALWAYS = ["computed", "own"]; // also where there was none

export const mixWhole = (mix) => Object.keys(ORIGINS).reduce((sum, name) => sum + mix[name], 0);

// Tokens of prompts by where their KV came from, as a bar.
export function mixBar(label, mix) {
  const parts = Object.entries(ORIGINS).filter(([name]) => mix[name] || ALWAYS.includes(name))
    .map(([name, { words, tone }]) => ({ name: words, value: mix[name], tone, words: tokens(mix[name]) }));
  return shareBar({ label, whole: mixWhole(mix), parts });
}

// The share of tokens that the replica did not compute; null where there were no prompts.
export function hitShare(mix) {
  const whole = mixWhole(mix);
  return whole ? 1 - mix.computed / whole : null;
}
