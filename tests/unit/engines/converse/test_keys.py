"""Keys of AWS's in the environment, and which region they sign for."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.engines.converse.dialect import ConverseDialect
from heterodyne.engines.converse.keys import read_keys

HOST = "bedrock-runtime.eu-central-1.amazonaws.com"
SECRET = "AWS_SECRET_ACCESS_KEY"
SET = {"AWS_ACCESS_KEY_ID": "AKID", SECRET: "s3cr3t"}
DIALECT = ConverseDialect(wall_clock=lambda: 1_440_938_160.0)


def test_a_secret_has_its_id_and_token_beside_it() -> None:
    keys = read_keys(SECRET, HOST, SET | {"AWS_SESSION_TOKEN": "t"})
    assert (keys.access_key_id, keys.secret_access_key, keys.session_token) == ("AKID", "s3cr3t", "t")
    other = read_keys("LAB_SECRET_ACCESS_KEY", HOST, {"LAB_ACCESS_KEY_ID": "B", "LAB_SECRET_ACCESS_KEY": "x"} | SET)
    assert (other.access_key_id, other.secret_access_key, other.session_token) == ("B", "x", "")


@pytest.mark.parametrize(
    ("host", "region"),
    [
        (HOST, "eu-central-1"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com:8443", "us-gov-west-1"),
        ("vpce-0a1b-2c3d.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", "ap-southeast-2"),
        ("proxy.example", "us-west-2"),
    ],
)
def test_the_host_says_the_region_before_the_environment_does(host: str, region: str) -> None:
    environment = SET | {"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "sa-east-1"}
    assert read_keys(SECRET, host, environment).region == region


@pytest.mark.parametrize(
    ("missing", "host", "said"),
    [(SECRET, HOST, SECRET), ("AWS_ACCESS_KEY_ID", HOST, "AWS_ACCESS_KEY_ID"), ("", "proxy.example", "AWS_REGION")],
)
def test_what_is_missing_is_named(missing: str, host: str, said: str) -> None:
    with pytest.raises(InvalidSpec, match=said):
        read_keys(SECRET, host, {name: value for name, value in SET.items() if name != missing})


def test_what_is_signed_names_the_key_and_never_has_the_secret() -> None:
    sign = DIALECT.signer(HOST, SECRET, SET | {"AWS_SESSION_TOKEN": "t"})
    assert sign is not None
    lines = sign("/model/m/converse", b"{}")
    assert lines.startswith(b"authorization: AWS4-HMAC-SHA256 Credential=AKID/20150830/eu-central-1/bedrock/aws4")
    assert b"SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, " in lines
    assert lines.endswith(b"\r\nx-amz-date: 20150830T123600Z\r\nx-amz-security-token: t\r\n")
    assert b"s3cr3t" not in lines
    assert sign("/model/m/converse", b"{ }") != lines


def test_a_key_of_any_other_name_goes_with_the_request() -> None:
    assert DIALECT.signer(HOST, "AWS_BEARER_TOKEN_BEDROCK", SET) is None
    assert DIALECT.header_lines("k") == b"authorization: Bearer k\r\n"


def test_a_secret_that_cannot_sign_is_not_sent_in_place_of_a_signature() -> None:
    sign = DIALECT.signer("proxy.example", SECRET, SET)
    assert sign is not None
    assert sign("/", b"") == b""
