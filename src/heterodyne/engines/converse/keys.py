"""Keys of an AWS account in variables of the environment, and the signer that is made of them."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from heterodyne.domain.errors import InvalidSpec
from heterodyne.engines.converse.signature import AwsKeys, signed_headers
from heterodyne.ports.engine_headers import Signer
from heterodyne.ports.engine_request import JSON

# How the name of a variable ends that has a key to sign with.
SECRET: Final = "SECRET_ACCESS_KEY"  # noqa: S105  # a name
SERVICE: Final = "bedrock"
REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_HOST: Final = re.compile(r"(?:^|\.)bedrock-runtime(?:-fips)?\.(?P<region>[a-z]{2,}(?:-[a-z0-9]+)+)\.")


def is_secret(variable: str) -> bool:
    """Whether a variable has a key that requests are signed with, and not one that goes with them."""
    return variable.endswith(SECRET)


def read_keys(variable: str, host: str, environment: Mapping[str, str]) -> AwsKeys:
    """`AWS_SECRET_ACCESS_KEY` and those beside it, or the same with another beginning; raises InvalidSpec."""
    beginning = variable.removesuffix(SECRET)
    id_variable = f"{beginning}ACCESS_KEY_ID"
    found = _HOST.search(host)
    region = found["region"] if found else next(filter(None, map(environment.get, REGIONS)), "")
    if not environment.get(variable):
        raise InvalidSpec(f"the environment variable {variable} is not set")
    if not environment.get(id_variable):
        raise InvalidSpec(f"the environment variable {id_variable}, whose secret is in {variable}, is not set")
    if not region:
        raise InvalidSpec(f"no region: neither the host {host} nor {' nor '.join(REGIONS)} names one")
    return AwsKeys(
        access_key_id=environment[id_variable],
        secret_access_key=environment[variable],
        session_token=environment.get(f"{beginning}SESSION_TOKEN", ""),
        region=region,
    )


def signer_of(keys: AwsKeys, authority: str, wall_clock: Callable[[], float]) -> Signer:
    """Signs what is posted to a host."""
    signed = {"host": authority, "content-type": JSON}

    def sign(path: str, body: bytes) -> bytes:
        added = signed_headers(keys, SERVICE, wall_clock(), method="POST", path=path, headers=signed, body=body)
        return "".join(f"{name}: {value}\r\n" for name, value in added.items()).encode()

    return sign
