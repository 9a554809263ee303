"""Settings of issuers whose tokens stand for keys."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
Words = Annotated[str, Meta(min_length=1)]
IssuerUrl = Annotated[str, Meta(pattern="^https://[^/?#@]+[^?#]*$")]

ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256", "ES384", "EdDSA")


class IssuerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An OpenID Connect issuer whose tokens (JWT) callers may bring in place of a key."""

    issuer_url: Annotated[
        IssuerUrl,
        Meta(
            description="The issuer as its tokens name it (`iss`), by https; its keys are found through "
            "`/.well-known/openid-configuration` under it."
        ),
    ]
    audiences: Annotated[
        tuple[Words, ...],
        Meta(min_length=1, description="What this gateway is called there; a token is for one of them (`aud`)."),
    ]
    claim: Annotated[
        tuple[Words, ...],
        Meta(
            min_length=1,
            description="Where a token says whose it is: the name of a claim, or the names on the way to one that is "
            "inside of another. Its value is a word or a list of words.",
        ),
    ] = ("sub",)
    callers: Annotated[
        dict[Words, Words],
        Meta(
            description="By a word of the claim (`*` at the end is anything), what it stands for: the id of a key, or "
            "a project (`acme/search`), whose limits, scopes and tier hold then."
        ),
    ] = {}
    projects: Annotated[
        tuple[Words, ...],
        Meta(
            description="Projects that the claim may name itself where `callers` has nothing of it, such as `acme/*`."
        ),
    ] = ()
    algorithms: Annotated[
        tuple[Algorithm, ...],
        Meta(min_length=1, description="How its tokens may be signed; secrets that two share are no signature."),
    ] = ALGORITHMS
    leeway_s: Annotated[float, Meta(ge=0, le=300, description="How far its clock and ours may be apart.")] = 30.0
    refresh_s: Annotated[
        float,
        Meta(
            ge=5,
            le=86400,
            description="How often its keys are asked for; a token that names a key we have not seen has them asked "
            "for at once, at most every 10 s.",
        ),
    ] = 300.0
    keys_kept_h: Annotated[
        float,
        Meta(gt=0, le=720, description="How long the keys it told last are believed while it cannot be asked."),
    ] = 24.0
    tls_authorities: Annotated[
        str | None,
        Meta(description="PEM file with the authorities that vouch for it, in place of those this system believes."),
    ] = None
