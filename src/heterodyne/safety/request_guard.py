"""All that policies do with one request and its answer."""

from collections.abc import Callable
from typing import Final, final

from msgspec import structs

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import ContentBlocked
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.answer_check import check_answer, check_text
from heterodyne.safety.guarded import FINDINGS_MAX, UNREADABLE, Guarded
from heterodyne.safety.inspection.stages import needs_whole, staged
from heterodyne.safety.placeholders import NOTHING, Placeholders
from heterodyne.safety.policy import GuardPlan, GuardRule, knowing, only_flag
from heterodyne.safety.remote.looks import RemoteLooks
from heterodyne.safety.stream_check import StreamCheck

WITHHELD: Final = "The request failed; what its engine said of that is withheld by a policy."


@final
class RequestGuard:
    """One for each request that a policy is about."""

    __slots__ = ("_note", "looks", "placeholders", "plan", "verdicts", "watch")

    def __init__(self, plan: GuardPlan, note: Callable[[GuardVerdict], None]) -> None:
        self.plan = plan
        self._note = note
        self.placeholders = NOTHING  # for what the engine does not see
        self.verdicts: list[GuardVerdict] = []
        self.looks: RemoteLooks | None = None  # None: no guard elsewhere is asked
        self.watch: Callable[[bytes], None] | None = None  # looks at the whole of an answer that streams

    @property
    def late(self) -> tuple[GuardRule, ...]:
        """Rules that flag what they see of an answer when all of it is there, while it streams."""
        return tuple(rule for rule in self.plan.output if rule.action == "flag" and not rule.is_in_stream)

    @property
    def looks_at_answers(self) -> bool:
        return bool(self.plan.output or self.plan.remote_output or self.placeholders.values)

    @property
    def edits_answers(self) -> bool:
        return bool(self.placeholders.values) or any(
            rule.is_in_stream or (rule.action != "flag" and not rule.is_heavy) for rule in self.plan.output
        )

    @property
    def holds_answers(self) -> bool:
        return not only_flag(self.plan.remote_output) or self._needs_whole()

    @property
    def flags_answers(self) -> bool:
        return any(rule.action == "flag" for rule in self.plan.remote_output) or bool(self.late)

    @property
    def only_watches(self) -> bool:
        return not self.placeholders.values and only_flag(self.plan.output)

    def take(self, guarded: Guarded) -> None:
        """What was found in the request, or in its whole answer; raises ContentBlocked."""
        for verdict in guarded.verdicts:
            self._add(verdict)
        if guarded.values:
            self.placeholders = Placeholders(guarded.values)
        if guarded.system_runs:
            self.plan = knowing(self.plan, guarded.system_runs)
        if guarded.expected:
            self.plan = structs.replace(self.plan, expected=guarded.expected)
        if guarded.blocked is not None:
            raise _refusal(guarded.blocked)

    def check_answer(self, body: bytes) -> bytes:
        guarded, body = check_answer(self.plan.output, self.placeholders, body, expected=self.plan.expected)
        self.take(guarded)
        return body

    def check_text(self, text: str) -> str:
        guarded, text = check_text(self.plan.output, self.placeholders, text)
        self.take(guarded)
        return text

    def check_error(self, message: str) -> str:
        rules = [rule for rule in self.plan.output if rule.is_in_stream]
        if any(rule.is_heavy and rule.action != "flag" for rule in self.plan.output):
            return WITHHELD  # they never look here, and nobody waits for an error
        try:
            guarded, text = check_text(rules, self.placeholders, message)
            self.take(guarded)
        except Exception:  # noqa: BLE001  # blocked, or a guard's mistake: there is an error to be told already
            return WITHHELD
        return text

    def stream_guard(self, choices: int, sent: str) -> StreamGuard:
        plan, note = self.plan, self._add
        if all(rule.is_in_stream for rule in plan.output):
            return StreamCheck(plan.output, self.placeholders, note, choices=choices, sent=sent)
        worded = [rule for rule in plan.output if rule.is_in_stream]
        words = StreamCheck(worded, self.placeholders, note, choices=choices, sent=sent)
        return staged(words, plan, note, choices=choices, sent=sent)

    def hide(self, text: str) -> str:
        return self.placeholders.hide(text)

    def _needs_whole(self) -> bool:
        """Whether a rule that looks here lets nothing of an answer go before all of it is there."""
        plan = self.plan
        if all(rule.is_in_stream for rule in plan.output):
            return False
        return any(rule.is_heavy or needs_whole(rule, plan.expected) for rule in plan.output if rule.action != "flag")

    def _add(self, verdict: GuardVerdict) -> None:
        self._note(verdict)
        if len(self.verdicts) < FINDINGS_MAX:
            self.verdicts.append(verdict)


def _refusal(verdict: GuardVerdict) -> ContentBlocked:
    if verdict.rule == UNREADABLE:
        return ContentBlocked(f'The policy "{verdict.policy}" reads prompts, and cannot read token ids; send text.')
    what = "The request" if verdict.direction == "input" else "The answer"
    where = f" in {verdict.where}" if verdict.where else ""
    message = f'{what} was blocked by the policy "{verdict.policy}": {verdict.rule}{where}.'
    return ContentBlocked(message, param=verdict.where or None)
