// The colour of a name: the same in every chart and at every rank, as long as the page is open, and most often in every
// browser: a name begins with the colour that its letters give, and takes the next free one where that is taken.

const PALETTE = 8;
const NO_NAMES = ["(none)", "other"]; // what has no name of its own has no colour of its own
const given = new Map(); // kind of name -> name -> tone

// tonesOf("pool", ["h100", "l4"]) -> a function from a name to its tone
export function tonesOf(kind, names) {
  if (!given.has(kind)) given.set(kind, new Map());
  const tones = given.get(kind);
  for (const name of [...new Set(names)].sort()) {
    if (!tones.has(name)) tones.set(name, NO_NAMES.includes(name) ? "muted" : free(name, tones));
  }
  return (name) => tones.get(name);
}

function free(name, tones) {
  const first = number(name) % PALETTE;
  const taken = new Map();
  for (const tone of tones.values()) taken.set(tone, (taken.get(tone) ?? 0) + 1);
  const least = Math.min(...Array.from({ length: PALETTE }, (_, index) => taken.get(index + 1) ?? 0));
  for (let step = 0; step < PALETTE; step += 1) {
    const tone = ((first + step) % PALETTE) + 1;
    if ((taken.get(tone) ?? 0) === least) return tone;
  }
  return first + 1;
}

function number(name) {
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 1000003;
  return sum;
}
