// What is drawn of a series: a line with its gaps, the area under it, bars, dots.

const DOT_PX = 2;

// points: [[x, y] or null]; null is a gap. A point between two gaps has no line to be seen by, and is a dot.
export function drawLine(context, points, { stroke, width = 1.5, dash = [], fill = null, base = 0 }) {
  for (const run of runsOf(points)) {
    if (fill) fillUnder(context, run, fill, base);
    if (run.length === 1) {
      drawDot(context, run[0], stroke);
      continue;
    }
    context.beginPath();
    for (const [x, y] of run) context.lineTo(x, y);
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.stroke();
  }
  context.setLineDash([]);
}

export function drawDot(context, [x, y], fill, radius = DOT_PX) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
}

// Upright from `base`, or lying from it.
export function drawBar(context, { from, size, base, end, fill, isFlat = false }) {
  context.fillStyle = fill;
  const [start, length] = [Math.min(base, end), Math.abs(end - base)];
  if (isFlat) context.fillRect(start, from, length, size);
  else context.fillRect(from, start, size, length);
}

function fillUnder(context, run, fill, base) {
  if (run.length < 2) return;
  context.beginPath();
  context.moveTo(run[0][0], base);
  for (const [x, y] of run) context.lineTo(x, y);
  context.lineTo(run.at(-1)[0], base);
  context.fillStyle = fill;
  context.fill();
}

function runsOf(points) {
  const runs = [];
  let isOpen = false;
  for (const point of points) {
    if (point === null) {
      isOpen = false;
    } else if (isOpen) {
      runs.at(-1).push(point);
    } else {
      runs.push([point]);
      isOpen = true;
    }
  }
  return runs;
}
