"""One text of a stream as it grows: what of it may be sent, masked and restored, and where a rule cuts it off."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, final

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.finding import Finding, Released, RuleFinding, Settled, place
from heterodyne.safety.glance import Glance
from heterodyne.safety.look import Found, verdict
from heterodyne.safety.overlaps import covering, resolve
from heterodyne.safety.piece_looks import PieceLooks
from heterodyne.safety.placeholders import Masker, Placeholders, StreamRestorer
from heterodyne.safety.policy import GuardRule, only_flag
from heterodyne.safety.registry import Look
from heterodyne.safety.texts import TextUnit
from heterodyne.safety.window import Settle, StreamWindow

WINDOW: Final = 384  # characters, of a finding with spaces in it
CONTEXT: Final = 96
RUN_MAX: Final = 16384  # the longest signed token that is waited for


@final
class StreamedText:
    """The words of one choice, its thoughts, or the arguments of one of its calls."""

    __slots__ = ("_holds", "_masker", "_note", "_released", "_restorer", "_rules", "_unit", "_window", "is_cut")

    def __init__(
        self,
        rules: Sequence[GuardRule],
        placeholders: Placeholders,
        masker: Masker,
        note: Callable[[GuardVerdict], None],
        *,
        where: str,
        sent: str = "",
    ) -> None:
        """`sent` are words of it that the client has already."""
        self._rules = rules
        self._masker = masker
        self._note = note
        self._unit = unit = TextUnit(where, "assistant", [], [""])
        self._released = len(sent)  # characters that were judged
        self._holds = not only_flag(rules)
        self._window: StreamWindow | None = None
        if rules:
            near, far = [rule.far and rule.look_at for rule in rules], [rule.far or rule.look_at for rule in rules]
            in_pieces = PieceLooks(partial(self._looked, near), partial(self._looked, far), _joined)
            self._window = StreamWindow(
                partial(self._looked, [rule.look_at for rule in rules]),
                window=WINDOW,
                context=CONTEXT,
                run_max=RUN_MAX,
                settle=_settle(rules),
                in_pieces=in_pieces if any(near) else None,
                sent=sent,
            )
        self._restorer: StreamRestorer | None = None
        if placeholders.values:
            self._restorer = StreamRestorer(placeholders.escaped if unit.is_json else placeholders)
        self.is_cut = False  # nothing that comes from here on may be sent

    def feed(self, text: str) -> str:
        """What may be sent when this has come."""
        window = self._window
        if window is not None:
            judged = window.feed_plain(text)
            if judged is None:
                judged = self._judged(window.feed_any(text))
            else:
                self._released += len(judged)
            text = judged if self._holds else text
        return text if self._restorer is None else self._restorer.feed(text)

    def close(self) -> str:
        """What was held back, at the end; as long as it is not closed there is more."""
        text, restorer = "", self._restorer
        if self._window is not None:
            judged = self._judged(self._window.close())
            text = judged if self._holds else ""
        if restorer is None:
            return text
        return restorer.feed(text) + (restorer.close() if self.is_closed else "")

    @property
    def is_closed(self) -> bool:
        """Whether nothing is held back."""
        return self._window is None or self._window.is_empty

    def _looked(self, looks: Sequence[Look | None], text: str) -> list[Finding]:
        """What they find, one for each of the rules."""
        found: list[Finding] = []
        glance = Glance(text)
        for number, look in enumerate(looks):
            findings = look(glance) if look is not None else ()
            if findings:
                score_min = self._rules[number].settings.score_min
                found += [
                    RuleFinding(start=one.start, end=one.end, rule=one.rule, score=one.score, rule_number=number)
                    for one in findings
                    if one.score >= score_min
                ]
        return found

    def _judged(self, released: Released) -> str:
        text, end = released.text, len(released.text)
        if not released.findings:
            self._released += end
            return text
        masks = []
        for finding in sorted(released.findings, key=place):
            if finding.start >= end:
                break
            assert isinstance(finding, RuleFinding)
            rule = self._rules[finding.rule_number]
            self._note(verdict(Found(rule, self._unit, finding), "output", before=self._released))
            if rule.action == "block":
                end, self.is_cut = finding.start, True
            elif rule.action == "mask":
                masks.append(finding)
        self._released += len(text)
        return self._masked(text, end, masks)

    def _masked(self, text: str, end: int, masks: Sequence[Finding]) -> str:
        """The text before `end` with placeholders; what reaches over the end is left out with all behind it."""
        made, at = [], 0
        for finding in covering(masks):
            if finding.end > end:
                end = min(end, finding.start)
                break
            made += [text[at : finding.start], self._masker.word(finding.rule, text[finding.start : finding.end])]
            at = finding.end
        return "".join((*made, text[at:end]))


def _joined(findings: list[Finding]) -> list[Finding]:
    """Without those that overlap surer ones of the same rule; in order."""
    by_rule: dict[int, list[Finding]] = {}
    for finding in findings:
        assert isinstance(finding, RuleFinding)
        by_rule.setdefault(finding.rule_number, []).append(finding)
    if len(by_rule) == 1:
        return resolve(findings)
    return sorted((finding for found in by_rule.values() for finding in resolve(found)), key=place)


def _settle(rules: Sequence[GuardRule]) -> Settle | None:
    """What all of the rules can judge; None where one of them cannot say."""
    every = tuple(dict.fromkeys(rule.settle for rule in rules))
    if len(every) == 1:
        return every[0]
    known = [one for one in every if one is not None]
    return None if len(known) < len(every) else lambda text: _first([one(text) for one in known])


def _first(every: list[Settled]) -> Settled:
    return Settled(min(one.plain for one in every), min(one.judged for one in every))
