"""All that policies do with one request and its answer."""

from collections.abc import Callable
from typing import Final, final

from heterodyne.domain.errors import ContentBlocked
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.answer_check import check_answer, check_text
from heterodyne.safety.guarded import FINDINGS_MAX, UNREADABLE, Guarded
from heterodyne.safety.placeholders import NOTHING, Placeholders
from heterodyne.safety.policy import GuardPlan, knowing, only_flag
from heterodyne.safety.remote.looks import RemoteLooks
from heterodyne.safety.stream_check import StreamCheck

WITHHELD: Final = "The request failed; what its engine said of that is withheld by a policy."


@final
class RequestGuard:
    """One for each request that a policy is about."""

    __slots__ = ("_note", "looks", "placeholders", "plan", "verdicts")

    def __init__(self, plan: GuardPlan, note: Callable[[GuardVerdict], None]) -> None:
        self.plan = plan
        self._note = note
        self.placeholders = NOTHING  # for what the engine does not see
        self.verdicts: list[GuardVerdict] = []
        self.looks: RemoteLooks | None = None  # None: no guard elsewhere is asked

    @property
    def looks_at_answers(self) -> bool:
        return self.edits_answers or bool(self.plan.remote_output)

    @property
    def edits_answers(self) -> bool:
        return bool(self.plan.output) or bool(self.placeholders.values)

    @property
    def holds_answers(self) -> bool:
        return not only_flag(self.plan.remote_output)

    @property
    def flags_answers(self) -> bool:
        return any(rule.action == "flag" for rule in self.plan.remote_output)

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
        if guarded.blocked is not None:
            raise _refusal(guarded.blocked)

    def check_answer(self, body: bytes) -> bytes:
        guarded, body = check_answer(self.plan.output, self.placeholders, body)
        self.take(guarded)
        return body

    def check_text(self, text: str) -> str:
        guarded, text = check_text(self.plan.output, self.placeholders, text)
        self.take(guarded)
        return text

    def check_error(self, message: str) -> str:
        try:
            return self.check_text(message)
        except Exception:  # noqa: BLE001  # blocked, or a guard's mistake: there is an error to be told already
            return WITHHELD

    def stream_guard(self, choices: int, sent: str) -> StreamCheck:
        return StreamCheck(self.plan.output, self.placeholders, self._add, choices=choices, sent=sent)

    def hide(self, text: str) -> str:
        return self.placeholders.hide(text)

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
