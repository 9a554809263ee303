// The columns of both tables of batches.

import { h } from "../lib/dom.js";
import { count, dayMinute, NONE, seconds, shortDateTime, tokens } from "../lib/format.js";
import { badge } from "../lib/widgets.js";
import { answeredWords, forecastOf, idWords, lateWords, progressOf, STATUS } from "./batch_words.js";
import { figureColumn } from "./figure_column.js";
import { progressBar } from "./progress_bar.js";

export function openColumns() {
  return [
    ...identity(),
    {
      key: "status", title: "Status", sort: true, stamp: (row) => `${row.status} ${row.is_held} ${row.problem}`,
      render: (row) => cell(status(row), !row.is_held && note("waits for a gateway"), row.problem && note(row.problem)),
    },
    {
      key: "progress", title: "Progress", sort: progressOf, stamp: answeredWords,
      render: (row) => cell(
        progressBar(progressOf(row), `Requests of ${idWords(row.id)} with an answer or an error`),
        note(answeredWords(row)),
      ),
    },
    {
      key: "expected_at", title: "Forecast", sort: true, stamp: (row) => forecastOf(row) + lateWords(row),
      render: (row) => cell(
        lateWords(row) && [badge("late", "warn"), " "], forecastOf(row), lateWords(row) && note(lateWords(row)),
      ),
    },
    figureColumn("expires_at", "Window ends", dayMinute),
    figureColumn("created_at", "Sent", dayMinute),
  ];
}

export function endedColumns() {
  return [
    ...identity(),
    {
      key: "status", title: "Status", sort: true, stamp: (row) => `${row.status} ${row.problem}`,
      render: (row) => cell(status(row), row.problem && note(row.problem)),
    },
    figureColumn("completed", "Answered", count, countColumn((row) => row.counts.completed)),
    figureColumn("failed", "Failed", count, countColumn((row) => row.counts.failed)),
    figureColumn("unanswered", "Given up", count, { hint: "not answered before it was cancelled or its window ended" }),
    figureColumn("tokens", "Tokens in → out", tokens, {
      sort: (row) => (row.tokens ? row.tokens.input + row.tokens.output : null),
      render: (row) => (row.tokens ? `${tokens(row.tokens.input)} → ${tokens(row.tokens.output)}` : NONE),
    }),
    figureColumn("took", "Took", seconds, { sort: tookS, render: (row) => seconds(tookS(row)) }),
    figureColumn("ended_at", "Ended", shortDateTime),
  ];
}

function identity() {
  return [
    {
      key: "id", title: "Batch", stamp: (row) => row.id,
      render: (row) => cell(h("span", { class: "strong", title: row.id }, idWords(row.id)), note(row.endpoint)),
    },
    { key: "project", title: "Project", sort: true },
  ];
}

function status(row) {
  return badge(STATUS[row.status].words, STATUS[row.status].tone);
}

// One element: on a phone a cell sets its parts side by side.
function cell(...parts) {
  return h("div", null, parts);
}

function note(words) {
  return h("span", { class: "batch-note" }, words);
}

function countColumn(value) {
  return { sort: value, render: (row) => count(value(row)) };
}

function tookS(row) {
  return row.ended_at === null ? null : row.ended_at - row.created_at;
}
