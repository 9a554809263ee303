// How requests ended, in the same words everywhere. Failed: the fleet owed an answer and did not give it. Refused: by a
// limit or for what was asked, or left by the client. Pure.

import { NONE, percent } from "../lib/format.js";

export const FAILED_HINT = "of the requests: the fleet owed an answer and did not give it";
export const REFUSED_HINT = "of the requests: refused by a limit or for what was asked, or left by the client";

// figures: those of a span of time -> { failed, refused, failedWords, refusedWords }
export function outcomesOf(figures) {
  const { requests, errors, failed } = figures;
  const refused = errors - failed;
  const words = (part) => (requests ? percent(part / requests) : NONE);
  return { failed, refused, failedWords: words(failed), refusedWords: words(refused) };
}
