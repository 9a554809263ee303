// Charts on canvases in the page's colours, each with its figures in words for those who do not see it.
//
// A tone is a number of the palette (1 to 8) or accent, good, warn, bad, muted; without one it is the series' place.

export { barChart } from "./chart/bar_chart.js";
export { curveChart } from "./chart/curve_chart.js";
export { lineChart } from "./chart/line_chart.js";
export { spark } from "./chart/spark.js";
