"""Settings of signing in with an issuer."""

from typing import Annotated

from msgspec import Meta, Struct

from heterodyne.identity.settings import IssuerUrl, Words


class SignInSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who vouches for people at the console, beside the keys of `[console]`, and what each may do."""

    issuer_url: Annotated[
        IssuerUrl | None,
        Meta(description="The OpenID Connect issuer that people sign in with, by https; absent, there are keys alone."),
    ] = None
    client_id: Annotated[Words | None, Meta(description="What the console is called there.")] = None
    client_secret_env: Annotated[
        Words | None,
        Meta(description="Environment variable that holds the console's secret there; absent, it is a public client."),
    ] = None
    console_url: Annotated[
        Annotated[str, Meta(pattern="^https?://[^/?#@]+$")] | None,
        Meta(
            description="How browsers reach the console. The issuer sends them back to `/sign-in/return` under it, "
            "which has to be registered there."
        ),
    ] = None
    claim: Annotated[
        tuple[Words, ...],
        Meta(min_length=1, description="Where the ID token says what a person may do, as in `issuers.NAME.claim`."),
    ] = ("groups",)
    operators: Annotated[tuple[Words, ...], Meta(description="Words of the claim whose people may change things.")] = ()
    viewers: Annotated[tuple[Words, ...], Meta(description="Words of the claim whose people may look.")] = ()
    name_claim: Annotated[
        tuple[Words, ...],
        Meta(
            min_length=1,
            description="Where the ID token has the name that the audit log tells people by; the issuer has to see to "
            "it that nobody takes another's.",
        ),
    ] = ("sub",)
    tls_authorities: Annotated[
        str | None,
        Meta(description="PEM file with the authorities that vouch for it, in place of those this system believes."),
    ] = None

    @property
    def is_on(self) -> bool:
        """Whether people may sign in with an issuer."""
        return self.issuer_url is not None
