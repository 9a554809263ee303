"""Settings of one policy: which guard looks at whose texts, on the way in or out, and what follows."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.guard_verdict import Action
from heterodyne.domain.named_scope import Models, Projects

Score = Annotated[float, Meta(ge=0, le=1)]
Milliseconds = Annotated[int, Meta(ge=1, le=60_000)]


class GuardSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy of what texts may not carry."""

    guard: Annotated[
        str,
        Meta(
            description="What looks at the texts: `pii`, `secrets`, `injection`, `injection_rules`, `words` or "
            "`system_prompt`; `http`, a service of yours; `judge`, a model of this fleet."
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
            "`input` for injections and `both` for the others."
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
        tuple[str, ...], Meta(description="Of `pii`: the only kinds that count; empty, those on by default.")
    ] = ()
    locales: Annotated[
        tuple[str, ...],
        Meta(description="Of `pii`: countries whose numbers are looked for; empty, all that are known."),
    ] = ()
    words: Annotated[
        tuple[str, ...],
        Meta(description="Of `words`: words and phrases that may not appear, in any case, as whole words."),
    ] = ()
    url: Annotated[str | None, Meta(description="Of `http`: where the texts are sent, with http or https.")] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="Of `http`: the environment variable with the key that is sent as a bearer token."),
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
