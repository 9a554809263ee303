"""Pure: what users asked before, asked again of a candidate: how its answers compare with those that they were given.

What was said is what projects let the audit log keep, redacted. Answers are judged as a canary's are; how alike they
are, and which of two a judge prefers, is told beside.
"""

from collections import Counter
from typing import Any, Final

import msgspec
from msgspec import Struct

from heterodyne.domain.audit import CUT, RequestEntry
from heterodyne.domain.operation import Operation
from heterodyne.rollout.answer_signs import sign_values
from heterodyne.rollout.asked_again import ASKED_AGAIN
from heterodyne.rollout.bounds import Bounds, rate_bounds
from heterodyne.rollout.evidence import NO_SUMS, Evidence, MetricSums, seen
from heterodyne.rollout.judge import ALPHA, Verdict, judge
from heterodyne.rollout.said import Said, tools_of, try_read_said

ANSWER_TOKENS_MAX: Final = 512


class CapturedRequest(Struct, frozen=True, kw_only=True):
    """One that was answered, with the answer."""

    id: str
    operation: Operation
    body: dict[str, Any]
    said: Said

    @property
    def question(self) -> str:
        """The last that was asked, for a judge."""
        if self.operation is Operation.COMPLETION:
            return str(self.body.get("prompt", ""))
        content = self.body["messages"][-1].get("content")
        return content if isinstance(content, str) else msgspec.json.encode(content).decode()


class JudgePreference(Struct, frozen=True):
    """How often a judge prefers which answer, when asked in both orders."""

    candidate: int = 0
    before: int = 0
    ties: int = 0  # or another in each order

    @property
    def losing(self) -> Bounds:
        """Of those with a preference, the share that prefers what was answered before."""
        return rate_bounds(self.candidate + self.before, self.before, ALPHA)


class ReplaySeen(Struct, frozen=True, kw_only=True):
    """Of all that were asked again."""

    candidate: Evidence = Evidence()
    before: Evidence = Evidence()
    likeness: MetricSums = NO_SUMS
    preference: JudgePreference | None = None  # None: nobody was asked to judge

    def plus(self, other: "ReplaySeen") -> "ReplaySeen":
        return ReplaySeen(
            candidate=self.candidate.plus(other.candidate),
            before=self.before.plus(other.before),
            likeness=self.likeness.plus(other.likeness),
            preference=_both(self.preference, other.preference),
        )

    @property
    def verdict(self) -> Verdict:
        """As of the first stage of a canary."""
        return judge(self.candidate, self.before)

    @property
    def is_worse(self) -> bool:
        """Surely, by any metric or by the judge."""
        return bool(self.verdict.breaches) or (self.preference is not None and self.preference.losing.low > 0.5)


def try_capture(entry: RequestEntry, region: str | None = None) -> CapturedRequest | None:
    """A request that can be asked again in a region, None: in none that is known; None: it was not kept, or not as a
    whole, or not answered, or it may not go there."""
    if entry.regions is not None and region not in entry.regions:
        return None
    if entry.prompt is None or not entry.answer or entry.status != 200 or entry.reason:
        return None
    if entry.operation not in ASKED_AGAIN or CUT in entry.prompt or CUT in entry.answer:
        return None
    try:
        body = msgspec.json.decode(entry.prompt)
    except msgspec.DecodeError:
        return None
    if not isinstance(body, dict) or not _is_asked(body):
        return None
    # Of a stream the log has the words, of a whole answer its JSON.
    said = try_read_said(entry.answer.encode(), is_stream=False) or Said(text=entry.answer)
    return CapturedRequest(id=entry.id, operation=Operation(entry.operation), body=body, said=said)


def compared_with_before(captured: CapturedRequest, said: Said | None) -> ReplaySeen:
    """One request; None: the candidate gave no answer."""
    before = seen({"errors": 0.0, **_values(captured, captured.said)})
    if said is None:
        return ReplaySeen(candidate=seen({"errors": 1.0}), before=before)
    alike = word_likeness(captured.said.text, said.text)
    return ReplaySeen(
        candidate=seen({"errors": 0.0, **_values(captured, said)}),
        before=before,
        likeness=MetricSums(1, alike, alike * alike),
    )


def word_likeness(one: str, other: str) -> float:
    """From 0 to 1: the harmonic mean of the shares of words that each has of the other."""
    words, others = Counter(one.lower().split()), Counter(other.lower().split())
    if not words or not others:
        return float(words == others)
    return 2 * (words & others).total() / (words.total() + others.total())


def _values(captured: CapturedRequest, said: Said) -> dict[str, float]:
    tools = tools_of(msgspec.json.encode(captured.body)) if said.calls else {}
    return {"length": len(said.text.split()) + 1.0, **sign_values(said, tools)}


def _is_asked(body: dict[str, Any]) -> bool:
    messages = body.get("messages")
    if isinstance(messages, list):
        return bool(messages) and all(isinstance(one, dict) for one in messages)
    return isinstance(body.get("prompt"), str)


def _both(one: JudgePreference | None, other: JudgePreference | None) -> JudgePreference | None:
    if one is None or other is None:
        return one or other
    return JudgePreference(one.candidate + other.candidate, one.before + other.before, one.ties + other.ties)
