"""What policies cost: of a request, of a token that is streamed, and beside the reading of the same bytes.

    python -m benchmarks.safety.cost

Processor time, the best of several rounds; the last column is a multiple of reading and writing the same JSON, which
carries over to other machines where microseconds do not.
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Final

import msgspec

from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import GuardPlan, GuardPolicy
from heterodyne.safety.request_check import check_request
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.stream_check import StreamCheck

POLICIES: Final = {
    "pii": GuardSettings(guard="pii", action="mask"),
    "secrets": GuardSettings(guard="secrets", action="block"),
    "attacks": GuardSettings(guard="injection_rules", action="block"),
}
WORDS: Final = (
    "Please summarise the following report for a reader who has little time, and say which of the points need a "
    "decision soon. The committee will meet again before the end of the month, and wants to hear what was found so "
    "far. It also asks what it would take to go on with the work that was begun last year in the other building. "
)
PROMPT: Final = (WORDS * 3)[:900]  # some two hundred tokens
MIXED: Final = "Step 1: open the file named report-2024.txt, then ask Maria about the 3 items on page 12. " * 10
ROUNDS: Final = 9


def plan(**policies: GuardSettings) -> GuardPlan:
    """What looks at everybody's requests."""
    found = GuardPolicy(policies).plan("a/b", "m", "m")
    assert found is not None
    return found


def microseconds(work: Callable[[], object], *, times: int) -> float:
    """Of one call."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        for _ in range(times):
            work()
        best = min(best, (process_time() - began) / times)
    return best * 1e6


def of_request(text: str, guards: GuardPlan) -> tuple[float, float]:
    """Looking at a chat of one turn, and reading and writing it."""
    body = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]})
    looked = microseconds(lambda: check_request(guards.input, body), times=300)
    return looked, microseconds(lambda: msgspec.json.encode(msgspec.json.decode(body)), times=2000)


def of_token(text: str, guards: GuardPlan) -> tuple[float, float]:
    """The same of an event of a stream."""
    words = text.split(" ")
    events = [msgspec.json.encode(_event(f" {word}")) for word in words]

    def stream() -> None:
        check = StreamCheck(guards.output, NOTHING, lambda _: None)
        for event in events:
            check(event)

    looked = microseconds(stream, times=10) / len(events)
    return looked, microseconds(lambda: msgspec.json.encode(msgspec.json.decode(events[0])), times=5000)


def _event(content: str) -> dict[str, object]:
    choice = {"index": 0, "delta": {"content": content}, "logprobs": None, "finish_reason": None}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    usual, full = plan(**POLICIES), plan(**POLICIES, more=GuardSettings(guard="injection"))
    rows = [
        ("request of 200 tokens, plain words", of_request(PROMPT, usual)),
        ("the same with the classifier", of_request(PROMPT, full)),
        ("request of 200 tokens, names and numbers", of_request(MIXED, usual)),
        ("streamed token, plain words", of_token(PROMPT, usual)),
        ("streamed token, names and numbers", of_token(MIXED, usual)),
    ]
    for name, (looked, read) in rows:
        print(f"{name:42} {looked:8.1f} µs {looked / read:6.1f} × reading and writing")


if __name__ == "__main__":
    main()
