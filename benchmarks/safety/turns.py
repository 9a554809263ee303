"""How long one turn of the loop takes at most that a guard looks in: texts made to be slow, as long as they may be.

    python -m benchmarks.safety.turns

Processor time, the best of three. Of requests, bodies that are looked at in the loop; of streams, slices behind what is
held back; of recognisers, 2,000 characters, beside plain words, and how much longer four times as many take.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import process_time
from typing import Final, NamedTuple

import msgspec

from benchmarks.safety.cost import WORDS, plan
from benchmarks.safety.structure_cost import CALLS
from benchmarks.safety.structure_cost import body as request_with_tools
from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.gateway.guards.quick import ANY_BYTES_MAX, QUICK_BYTES_MAX, is_quick
from heterodyne.gateway.stream_turns import SLICE_CHARS
from heterodyne.safety.glance import Glance
from heterodyne.safety.pii.recogniser import Recogniser, matches
from heterodyne.safety.pii.registry import ANYWHERE, EVERYWHERE, LOCALES
from heterodyne.safety.pii.words.by_words import by_words
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import GuardPlan
from heterodyne.safety.request_check import check_request
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.safety.secrets import secrets_in
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.stream_check import StreamCheck

UNITS: Final = (
    *("7", "4 ", "1.", "12-", "4111 1111 ", "123 456 ", "01/02/2003 ", "+1 212 555 1234 ", "+", "+1", "(", "(12) "),
    *("[{(<", "aa:", "::", "f:", "a.", "a.com.", "@", "a@", "@a.a.", "a@a.a-a.", " ", "\n", "\t", " \n", "A", "Ab "),
    *("A. ", "A-", "a-", "_", "aB3/", "aBcD", "a", "0x", "eyJ", "eyJaaaaaaaa.", "key=", "password", "password = "),
    *("secret:\n", "http://", "http://a.", "://a:", "://", "-----BEGIN ", "-", "Main Street ", "12 Main Street, "),
    *("De la ", "Ab de la ", "corner of Ab and ", "1a", "A1", "1 Ab ", "Ab 1 ", "nan ", "é", "É ", "忽略一切", "เลข"),
    *("a\u200b", "\ufe0f", "😀", "ignore ", "no rules without rules ", "prompt", "</", "<|", "\nsystem:", "system "),
    *("born 1.1.2000 ", "aged 3", "Jane Doe, ", "Dr. ", "my name is ", "my name is bob. ", "visa ssn passport iban 1 "),
    *("'", "A's ", "\\u0041", '"', "x.x@", "%a", "Ab and ", "Ab, ", "1,", "1, ", "a1 ", "GB82 WEST ", "AA00", "\n1"),
)
RUN: Final = 17_000  # more than a run that is waited for may have
CHARACTERS: Final = 2_000
LONG_WORDS: Final = '{"path": "' + "word " * 13_000 + '"}'
LONG_NUMBERS: Final = '{"path": "a", "lines": [' + "1," * 32_000 + "1]}"
TELLING: Final = "abc def "  # what dilutes a text until it may be looked at in the loop
WORTH_TELLING: Final = 12


def best_s(work: Callable[[], object], tries: int = 3) -> float:
    """Of one call."""
    found = float("inf")
    for _ in range(tries):
        began = process_time()
        work()
        found = min(found, process_time() - began)
    return found


def body(text: str) -> bytes:
    """A chat of one turn."""
    return msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]})


def bodies(unit: str) -> Iterator[bytes]:
    """Those of one text that are looked at in the loop: the longest of nothing else, and the longest with words
    between."""
    envelope = len(body(""))
    for size in (ANY_BYTES_MAX - envelope, QUICK_BYTES_MAX - envelope):
        for words in range(64):
            data = body(((unit + TELLING * words) * size).encode()[:size].decode(errors="ignore"))
            if is_quick(data):
                yield data
                break


def longest_step_s(check: StreamGuard, events: Iterable[bytes]) -> float:
    """Of a stream; what is asked to be judged beside the loop is found to be in order."""
    longest = 0.0
    for event in (*events, b"[DONE]"):
        longest = max(longest, best_s(partial(check, event), 1))
        while check.owes:
            if check.asked:
                check.judged(())
            longest = max(longest, best_s(check.more, 1))
    return longest


def told(delta: dict[str, object], finish: str | None = None) -> bytes:
    """An event of a stream."""
    return msgspec.json.encode({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def longest_slice_s(guards: GuardPlan, text: str) -> float:
    """Of a stream that says it in slices."""
    slices = [told({"content": text[at : at + SLICE_CHARS]}) for at in range(0, len(text), SLICE_CHARS)]
    return longest_step_s(StreamCheck(guards.output, NOTHING, lambda _: None), slices)


def longest_of_calls_s(arguments: str, calls: int) -> float:
    """Of a stream that calls a tool so many times, past all that looks at calls and at words."""
    guards = plan(calls=CALLS, private=GuardSettings(guard="pii", action="mask", direction="output"))
    guard = RequestGuard(guards, lambda _: None)
    guard.take(check_request(guards.input, request_with_tools())[0])
    named = [{"index": place, "id": "1", "function": {"name": "read_3", "arguments": ""}} for place in range(calls)]
    slices = [
        {"index": place, "function": {"arguments": arguments[at : at + SLICE_CHARS]}}
        for place in range(calls)
        for at in range(0, len(arguments), SLICE_CHARS)
    ]
    events = [told({"tool_calls": [one]}) for one in (*named, *slices)]
    return longest_step_s(guard.stream_guard(1, ""), [*events, told({}, "tool_calls")])


class LongestTurn(NamedTuple):
    """Of one guard, and the text that took it."""

    seconds: float
    unit: str
    guard: str
    way: str


def of_guards() -> Iterator[LongestTurn]:
    """What each takes at most."""
    for guard in ("pii", "secrets", "injection_rules", "injection"):
        guards = plan(one=GuardSettings(guard=guard, action="block", direction="both"))
        yield max(
            LongestTurn(best_s(partial(check_request, guards.input, data)), unit, guard, "request")
            for unit in UNITS
            for data in bodies(unit)
        )
    for guard in ("pii", "secrets"):
        guards = plan(one=GuardSettings(guard=guard, action="mask", direction="output"))
        yield max(
            LongestTurn(min(longest_slice_s(guards, (unit * RUN)[:RUN]) for _ in range(2)), unit, guard, "stream")
            for unit in UNITS
        )
    for arguments, calls in ((LONG_WORDS, 1), (LONG_NUMBERS, 1), ('{"path": "a"}', 128)):
        unit = f"{calls} of {len(arguments)} characters"
        yield LongestTurn(min(longest_of_calls_s(arguments, calls) for _ in range(2)), unit, "tool_calls, pii", "calls")


def of_recognisers() -> Iterator[tuple[float, str, str, float, float]]:
    """Nanoseconds of a character, whose, of which text, times plain words, and of four times as many characters."""
    looks: list[tuple[str, Callable[[str], object]]] = [
        ("secrets", lambda text: secrets_in(Glance(text))),
        ("names and addresses", lambda text: by_words(Glance(text), 0.5, [])),
    ]
    every = (*EVERYWHERE, *ANYWHERE, *(one for pack in LOCALES.values() for one in pack))
    looks += [(recogniser.rule, partial(_matched, recogniser)) for recogniser in every]
    for name, look in looks:
        plain = best_s(partial(look, (WORDS * 9)[:CHARACTERS]))
        worst_s, unit = max((best_s(partial(look, (unit * CHARACTERS)[:CHARACTERS])), unit) for unit in UNITS)
        more = best_s(partial(look, (unit * 4 * CHARACTERS)[: 4 * CHARACTERS]))
        yield worst_s / CHARACTERS * 1e9, name, unit, worst_s / plain, more / worst_s


def _matched(recogniser: Recogniser, text: str) -> object:
    return matches(recogniser, text, 0, len(text), 0.5)


def main() -> None:
    """Print both tables."""
    for turn in of_guards():
        print(f"{turn.guard:16} {turn.way:8} {1000 * turn.seconds:6.2f} ms  {turn.unit!r}")
    print(f"\n{'recogniser':28} {'ns a character':>14} {'times plain':>12} {'4 × as long':>12}")
    for each, name, unit, times, more in sorted(of_recognisers(), reverse=True)[:WORTH_TELLING]:
        print(f"{name:28} {each:14.0f} {times:12.1f} {more:12.1f}  {unit!r}")


if __name__ == "__main__":
    main()
