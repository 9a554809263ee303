// Two canvases over each other: the picture, and above it what follows the pointer, which is drawn anew at each move.

import { h } from "../dom.js";

export const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

// -> { picture, above, width, height, resize(width, height), clear(), clearAbove() }
export function surface(host) {
  const layers = [h("canvas"), h("canvas", { class: "chart-above" })];
  host.append(...layers);
  const [picture, above] = layers.map((layer) => layer.getContext("2d"));
  const made = {
    picture,
    above,
    width: 0,
    height: 0,
    resize(width, height) {
      made.width = width;
      made.height = height;
      const sharp = globalThis.devicePixelRatio || 1;
      for (const layer of layers) {
        layer.width = Math.round(width * sharp);
        layer.height = Math.round(height * sharp);
        layer.style.setProperty("width", `${width}px`);
        layer.style.setProperty("height", `${height}px`);
        const context = layer.getContext("2d");
        context.setTransform(sharp, 0, 0, sharp, 0, 0);
        context.font = FONT;
      }
    },
    clear: () => picture.clearRect(0, 0, made.width, made.height),
    clearAbove: () => above.clearRect(0, 0, made.width, made.height),
  };
  return made;
}
