"""Asks a candidate again what users asked before, a few at a time, and a judge which answer is better."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct

from heterodyne.cli.chat.openai_client import OpenAIClient
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.rollout.asked_again import body_again
from heterodyne.rollout.preference import JUDGE_TOKENS_MAX, judge_questions, preference_of
from heterodyne.rollout.replay import ANSWER_TOKENS_MAX, CapturedRequest, ReplaySeen, compared_with_before
from heterodyne.rollout.said import Said, try_read_said

PATHS = {Operation.CHAT: "/v1/chat/completions", Operation.COMPLETION: "/v1/completions"}


class AskedModel(Struct, frozen=True):
    """A model behind an OpenAI-compatible address."""

    client: OpenAIClient
    model: str


class Replayer:
    """One candidate, and a judge where there is one."""

    def __init__(self, candidate: AskedModel, judge: AskedModel | None, in_flight: int) -> None:
        self._candidate = candidate
        self._judge = judge
        self._in_flight = in_flight
        self.first_error = ""  # of the candidate, in its own words

    def replay(self, captured: Iterable[CapturedRequest], on_each: Callable[[], None]) -> ReplaySeen:
        """All of them."""
        with ThreadPoolExecutor(self._in_flight) as pool:
            seen = ReplaySeen()
            for one in pool.map(self._replay, captured):
                seen = seen.plus(one)
                on_each()
        return seen

    def _replay(self, captured: CapturedRequest) -> ReplaySeen:
        said = self._try_answer(captured)
        found = compared_with_before(captured, said)
        if self._judge is None or said is None:
            return found
        first, second = judge_questions(captured.question, captured.said.text, said.text)
        return found.plus(ReplaySeen(preference=preference_of(self._judged(first), self._judged(second))))

    def _try_answer(self, captured: CapturedRequest) -> Said | None:
        try:
            answer = self._candidate.client.ask(PATHS[captured.operation], self._body(captured))
        except HeterodyneError as error:
            self.first_error = self.first_error or str(error)
            return None
        said = try_read_said(answer, is_stream=False)
        if said is None:
            self.first_error = self.first_error or "an answer that cannot be read"
        return said

    def _body(self, captured: CapturedRequest) -> dict[str, Any]:
        return body_again(captured.body, self._candidate.model, ANSWER_TOKENS_MAX)

    def _judged(self, question: str) -> str:
        """Raises where the judge does not answer: a comparison without it would look like a tie."""
        assert self._judge is not None
        body = {
            "model": self._judge.model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": JUDGE_TOKENS_MAX,
        }
        said = try_read_said(self._judge.client.ask(PATHS[Operation.CHAT], body), is_stream=False)
        return "" if said is None else said.text
