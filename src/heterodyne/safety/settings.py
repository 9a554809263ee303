"""Settings of one policy: which guard looks at whose texts, on the way in or out, and what follows."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.guard_verdict import Action
from heterodyne.domain.named_scope import Models, Projects

Score = Annotated[float, Meta(ge=0, le=1)]
Milliseconds = Annotated[int, Meta(ge=1, le=60_000)]
Count = Annotated[int, Meta(ge=1, le=100_000_000)]
Names = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...], Meta(max_length=64)]
Patterns = Annotated[tuple[str, ...], Meta(max_length=64)]


class GuardSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy of what texts may not carry."""

    guard: Annotated[
        str,
        Meta(
            description="What looks at the texts: `pii`, `secrets`, `injection`, `injection_rules`, `words`, "
            "`system_prompt` or `presidio`; `tool_calls`, `schema` or `length`, at how they are made; `http`, a "
            "service of yours; `judge`, a model of this fleet."
        ),
    ]
    action: Annotated[
        Action,
        Meta(
            description="What follows a finding: `flag` writes it down, `mask` puts a placeholder in its place, "
            "`block` refuses the request or ends the answer before it."
        ),
    ] = "flag"
    direction: Annotated[
        Literal["input", "output", "both"] | None,
        Meta(
            description="Where it looks: at what clients send (`input`), at answers (`output`) or `both`; absent, "
            "`input` for injections, `output` for `schema` and `both` for the others."
        ),
    ] = None
    projects: Projects = ("*",)
    models: Models = ("*",)
    restores: Annotated[
        bool,
        Meta(description="Whether what was masked on the way in is put back in the answer to the same request."),
    ] = True
    score_min: Annotated[Score, Meta(description="Findings that the guard is less sure of do not count.")] = 0.0
    kinds: Annotated[
        tuple[str, ...],
        Meta(
            description="Of `pii`: the only kinds that count, of `presidio` its entities, of `tool_calls` its rules; "
            "empty, those on by default."
        ),
    ] = ()
    locales: Annotated[
        tuple[str, ...],
        Meta(description="Of `pii`: countries whose numbers are looked for; empty, all that are known."),
    ] = ()
    words: Annotated[
        tuple[str, ...],
        Meta(description="Of `words`: words and phrases that may not appear, in any case, as whole words."),
    ] = ()
    tools: Annotated[
        Names,
        Meta(
            description="Of `tool_calls`: the tools whose arguments are held against `arguments_denied`, "
            "`roots_allowed` and `hosts_allowed`, `*` standing for any characters; empty, all."
        ),
    ] = ()
    tools_denied: Annotated[
        Names, Meta(description="Of `tool_calls`: tools that may not be called; `*` stands for any characters.")
    ] = ()
    arguments_denied: Annotated[
        Patterns,
        Meta(description="Of `tool_calls`: regular expressions that may be found in no text of a call's arguments."),
    ] = ()
    roots_allowed: Annotated[
        Names,
        Meta(
            description="Of `tool_calls`: folders; a path in arguments that leads elsewhere is found. Empty: any may."
        ),
    ] = ()
    hosts_allowed: Annotated[
        Names,
        Meta(
            description="Of `tool_calls`: hosts that URLs in arguments may name, `*` standing for any characters; "
            "empty, any."
        ),
    ] = ()
    calls_max: Annotated[
        Count | None, Meta(description="Of `tool_calls`: how many calls an answer may have; absent, 128.")
    ] = None
    argument_chars_max: Annotated[
        Count | None,
        Meta(description="Of `tool_calls`: how many characters the arguments of a call may have; absent, 65536."),
    ] = None
    json_schema: Annotated[
        str | None,
        Meta(
            description="Of `schema`: the JSON Schema, as JSON, that answers must be of; absent, the one that a "
            "request itself asks for."
        ),
    ] = None
    prompt_chars_max: Annotated[
        Count | None, Meta(description="Of `length`: how many characters a request's texts may have together.")
    ] = None
    prompt_tokens_max: Annotated[
        Count | None,
        Meta(
            description="Of `length`: the same in tokens, a quarter of the bytes of a text, or token ids as they are."
        ),
    ] = None
    messages_max: Annotated[Count | None, Meta(description="Of `length`: how many messages a request may have.")] = None
    answer_chars_max: Annotated[
        Count | None,
        Meta(
            description="Of `length`: how many characters a choice of an answer may have, its thoughts and calls too."
        ),
    ] = None
    language: Annotated[
        str | None, Meta(description="Of `presidio`: the language of the texts, in two letters; absent, `en`.")
    ] = None
    spacy_model: Annotated[
        str | None,
        Meta(
            description="Of `presidio`: the installed model of spaCy that finds names and places; absent, patterns "
            "alone are looked for."
        ),
    ] = None
    url: Annotated[str | None, Meta(description="Of `http`: where the texts are sent, with http or https.")] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="Of `http`: the environment variable with the key that is sent as a bearer token."),
    ] = None
    region: Annotated[
        str | None,
        Meta(
            description="Of `http`: where the service is. Texts of keys that may be answered in some regions only are "
            "sent to it where it is in one of them; without a region it is in none."
        ),
    ] = None
    judge_model: Annotated[
        str | None, Meta(description="Of `judge`: a model that this fleet serves, which is asked for its judgement.")
    ] = None
    instructions: Annotated[
        str | None,
        Meta(
            description="Of `judge`: what it is told to look for; empty for a model that brings its own instructions, "
            "such as Llama Guard; absent, a short text of ours."
        ),
    ] = None
    timeout_ms: Annotated[
        Milliseconds | None,
        Meta(description="Of `http` and `judge`: how long a verdict is waited for; absent, 500 and 5000."),
    ] = None
    on_failure: Annotated[
        Literal["pass", "refuse"] | None,
        Meta(
            description="Of `http` and `judge`: what becomes of texts that no verdict came for; absent, `refuse` where "
            "the policy blocks and `pass` where it flags."
        ),
    ] = None
