// One figure against another, both on logarithmic axes: what more of the one costs of the other.

import { drawBottom, drawLeft, TOP_PX, widthOf, X_AXIS_PX } from "./axes.js";
import { frame } from "./frame.js";
import { drawCursor } from "./line_chart.js";
import { drawDot, drawLine } from "./marks.js";
import { logarithmic, nearest } from "./scale.js";
import { decadeTicks } from "./ticks.js";
import { toneColour } from "./tone.js";

const RIGHT_PX = 16;

// { title, tools, height, series: [{ label, tone }], points: [[[x, y]]], writeX, writeY, inWords() }
// -> { element, update(points), destroy() }; one list of points per series, from the left to the right.
export function curveChart(options) {
  let { points } = options;
  const { series, writeX, writeY } = options;
  const places = () => [...new Set(points.flat().map(([x]) => x))].sort((a, b) => a - b);
  const chart = frame(options, {
    series: () => series,
    steps: () => places().length,
    shown: (index, at) => (at === null ? "" : writeY(points[index].find(([x]) => x === places()[at])?.[1] ?? null)),
    when: (at) => (at === null ? "" : writeX(places()[at])),
    draw: (canvas, isHidden) => draw(canvas, isHidden, { ...options, points, places: places() }),
    inWords: options.inWords,
  });
  return {
    element: chart.element,
    update(newPoints) {
      points = newPoints;
      chart.update(false);
    },
    destroy: chart.destroy,
  };
}

function draw(canvas, isHidden, { series, points, places, writeX, writeY }) {
  const { picture, width, height } = canvas;
  const upright = { top: TOP_PX, bottom: height - X_AXIS_PX };
  const tall = rangeOf(points.flat().map(([, y]) => y));
  const y = logarithmic(tall, [upright.bottom, upright.top]);
  const ys = decadeTicks(...tall, Math.floor((upright.bottom - upright.top) / 30));
  const box = { ...upright, left: widthOf(picture, ys.at.map(writeY)), right: width - RIGHT_PX };
  const wide = rangeOf(places);
  const x = logarithmic(wide, [box.left, box.right]);
  const xs = decadeTicks(...wide, Math.floor((box.right - box.left) / 60));
  drawLeft(picture, box, ys.at.map((value) => ({ place: y(value), words: writeY(value) })));
  drawBottom(picture, box, xs.at.map((value) => ({ place: x(value), words: writeX(value) })), { width });
  const stroke = (index) => toneColour(series[index].tone, index);
  points.forEach((line, index) => {
    if (isHidden(index)) return;
    const there = line.map(([first, second]) => [x(first), y(second)]);
    drawLine(picture, there, { stroke: stroke(index) });
    for (const point of there) drawDot(picture, point, stroke(index), 2.5);
  });
  return {
    find: (pointer) => nearest(places.map(x), pointer),
    mark(_, at) {
      drawCursor(canvas.above, x(places[at]), box);
      points.forEach((line, index) => {
        const point = line.find(([first]) => first === places[at]);
        if (point && !isHidden(index)) drawDot(canvas.above, [x(point[0]), y(point[1])], stroke(index), 4);
      });
    },
  };
}

// With a little air at both ends.
function rangeOf(values) {
  const there = values.filter((value) => value > 0);
  if (!there.length) return [1, 10];
  const [low, high] = [Math.min(...there), Math.max(...there)];
  const air = (high / low) ** 0.04 * (high === low ? 1.5 : 1);
  return [low / air, high * air];
}
