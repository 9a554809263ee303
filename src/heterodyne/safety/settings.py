"""Settings of one policy: which guard looks at whose texts, on the way in or out, and what follows."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.guard_verdict import Action

Score = Annotated[float, Meta(ge=0, le=1)]


class GuardSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One policy of what texts may not carry."""

    guard: Annotated[
        str, Meta(description="What looks at the texts: `pii`, `secrets`, `injection`, `injection_rules` or `words`.")
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
    projects: Annotated[
        tuple[str, ...],
        Meta(description="Projects it holds for, as organisation/project; `*` stands for any characters."),
    ] = ("*",)
    models: Annotated[
        tuple[str, ...],
        Meta(description="Models it holds for, by the name that is asked for or that answers; `*` as above."),
    ] = ("*",)
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
