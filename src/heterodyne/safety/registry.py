"""Every guard, by name: how it is made of a policy's settings, and which texts are its business.

What a guard knows, lists of names and weights, is loaded when a policy first asks for it: nearly every process reads
settings, and few have policies.
"""

from collections.abc import Callable, Collection
from typing import Final

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.safety.finding import Finding, Settled
from heterodyne.safety.glance import Glance
from heterodyne.safety.guard_url import read_guard_url
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.inspector import Inspector

HTTP: Final = "http"  # a service that is asked
JUDGE: Final = "judge"  # a model that is asked
ELSEWHERE: Final = ("timeout_ms", "on_failure")  # settings of both

Look = Callable[[Glance], Collection[Finding]]
Settle = Callable[[str], Settled]


# Whoever writes the system prompt gives orders by right, and the model's own turns are judged on their way out.
ORDERS_BY_RIGHT: Final = frozenset({"system", "developer", "assistant"})


CALL_BOUNDS: Final = ("calls_max", "argument_chars_max")
SCHEMA: Final = "schema"  # looks at answers alone
SYSTEM_PROMPT: Final = "system_prompt"  # what it looks for in an answer stands in the request


class Finder(Struct, frozen=True):
    """A guard as one policy has it."""

    look: Look
    settle: Settle | None = None  # what of a text that goes on can be judged; None: it may begin anywhere
    far: Look | None = None  # those of its findings that may be long, where that is far quicker; None: it is not
    inspector: Inspector | None = None  # it looks at how a request or an answer is made, and not at its words


class GuardKind(Struct, frozen=True, kw_only=True):
    """One kind of them."""

    version: str  # counted up when it finds other things than before
    make: Callable[[GuardSettings], Finder]  # raises InvalidSpec
    heeds: tuple[str, ...]  # the settings that are its own
    skipped_roles: frozenset[str] = frozenset()  # whose words it does not look at
    can_mask: bool = True  # whether something can stand for what it finds
    direction: str = "both"  # where it looks if its policy does not say
    is_heavy: bool = False  # it looks beside the worker alone, and never at a part of an answer
    timeout_ms: int = 0  # of one that is asked elsewhere, if its policy does not say; 0: it looks here


def _pii(settings: GuardSettings) -> Finder:
    from heterodyne.safety.pii.finder import PIIFinder
    from heterodyne.safety.pii.registry import DEFAULT_KINDS, KINDS, LOCALES
    from heterodyne.safety.settled import settle

    for kind in settings.kinds:
        if kind not in KINDS:
            raise unknown_name("kind of personal data", kind, sorted(KINDS))
    for locale in settings.locales:
        if locale not in LOCALES:
            raise unknown_name("locale", locale, sorted(LOCALES))
    finder = PIIFinder(settings.kinds or DEFAULT_KINDS, settings.locales or tuple(LOCALES))
    return Finder(finder.found_in, settle, far=finder.long_ones_in)


def _secrets(_: GuardSettings) -> Finder:
    from heterodyne.safety.secrets import secrets_in
    from heterodyne.safety.settled import settle

    return Finder(secrets_in, settle)


def _injection(_: GuardSettings) -> Finder:
    from heterodyne.safety.injection.detect import detect_in

    return Finder(detect_in)


def _injection_rules(_: GuardSettings) -> Finder:
    from heterodyne.safety.injection.detect import rules_alone

    return Finder(rules_alone)


def _words(settings: GuardSettings) -> Finder:
    from heterodyne.safety.words import WordFinder

    if not any(phrase.strip() for phrase in settings.words):
        raise InvalidSpec("the guard `words` needs `words`")
    finder = WordFinder(settings.words)
    return Finder(_of_text(finder.find), finder.settle)


def _http(settings: GuardSettings) -> Finder:
    if settings.url is None:
        raise InvalidSpec("the guard `http` needs `url`")
    read_guard_url(settings.url)
    return Finder(_asked_elsewhere)


def _judge(settings: GuardSettings) -> Finder:
    if not settings.judge_model:
        raise InvalidSpec("the guard `judge` needs `judge_model`")
    return Finder(_asked_elsewhere)


def _asked_elsewhere(_: Glance) -> Collection[Finding]:
    raise AssertionError("a guard elsewhere is asked, and does not look here")


def _system_prompt(settings: GuardSettings) -> Finder:
    """Its `words` are runs of the request's own system prompt; without a request there is nothing to find."""
    from heterodyne.safety.prompt_leak import LeakFinder

    finder = LeakFinder(settings.words)
    return Finder(_of_text(finder.find), finder.settle)


def _of_text(find: Callable[[str], Collection[Finding]]) -> Look:
    """A look that has no use for the kinds of characters."""
    return lambda glance: find(glance.text)


def _presidio(settings: GuardSettings) -> Finder:
    from heterodyne.safety.presidio.finder import presidio_finder

    return Finder(_of_text(presidio_finder(settings)))


def _tool_calls(settings: GuardSettings) -> Finder:
    from heterodyne.safety.structure.tool_calls import ToolCallInspector

    return Finder(_sees_no_words, inspector=ToolCallInspector(settings))


def _schema(settings: GuardSettings) -> Finder:
    from heterodyne.safety.structure.answer_schema import SchemaInspector

    return Finder(_sees_no_words, inspector=SchemaInspector(settings))


def _length(settings: GuardSettings) -> Finder:
    from heterodyne.safety.structure.length import LengthInspector

    return Finder(_sees_no_words, inspector=LengthInspector(settings))


def _sees_no_words(_: Glance) -> Collection[Finding]:
    raise AssertionError("a guard of structure looks at how a text is made, and not at its words")


def _against_attacks(make: Callable[[GuardSettings], Finder]) -> GuardKind:
    return GuardKind(version="1", make=make, heeds=(), skipped_roles=ORDERS_BY_RIGHT, can_mask=False, direction="input")


GUARDS: dict[str, GuardKind] = {
    "pii": GuardKind(version="4", make=_pii, heeds=("kinds", "locales")),
    "secrets": GuardKind(version="1", make=_secrets, heeds=()),
    "injection": _against_attacks(_injection),
    # A tenth of the time, and what the rules do not know passes.
    "injection_rules": _against_attacks(_injection_rules),
    "words": GuardKind(version="1", make=_words, heeds=("words",)),
    SYSTEM_PROMPT: GuardKind(version="1", make=_system_prompt, heeds=()),
    "presidio": GuardKind(version="1", make=_presidio, heeds=("kinds", "language", "spacy_model"), is_heavy=True),
    "tool_calls": GuardKind(
        version="1",
        make=_tool_calls,
        heeds=("kinds", "tools", "tools_denied", "arguments_denied", "roots_allowed", "hosts_allowed", *CALL_BOUNDS),
        can_mask=False,
    ),
    SCHEMA: GuardKind(version="1", make=_schema, heeds=("json_schema",), can_mask=False, direction="output"),
    "length": GuardKind(
        version="1",
        make=_length,
        heeds=("prompt_chars_max", "prompt_tokens_max", "messages_max", "answer_chars_max"),
        can_mask=False,
    ),
    HTTP: GuardKind(
        version="1", make=_http, heeds=("url", "api_key_env", "region", *ELSEWHERE), can_mask=False, timeout_ms=500
    ),
    JUDGE: GuardKind(
        version="1", make=_judge, heeds=("judge_model", "instructions", *ELSEWHERE), can_mask=False, timeout_ms=5000
    ),
}


def guard_named(name: str) -> GuardKind:
    """One of them; raises UnknownName."""
    guard = GUARDS.get(name)
    if guard is None:
        raise unknown_name("guard", name, list(GUARDS))
    return guard
