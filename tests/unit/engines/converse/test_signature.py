"""Signature Version 4, against the cases that AWS has published and against botocore's signer."""

from collections.abc import Sequence
from datetime import UTC, datetime
from unittest.mock import patch
from urllib.parse import quote, urlencode

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.engines.converse.signature import AwsKeys, signed_headers
from tests.support.examples import examples
from tests.support.splits import bounded

KEYS = AwsKeys(
    access_key_id="AKIDEXAMPLE",
    secret_access_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",  # AWS's own example
    region="us-east-1",
)
AT = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
HOST = {"host": "example.amazonaws.com"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
PLAIN = "-_.~abcABC123"


def signature(service: str, **asked: object) -> str:
    headers = signed_headers(KEYS, service, AT.timestamp(), **asked)  # type: ignore[arg-type]
    return headers["authorization"].rpartition("Signature=")[2]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"method": "GET", "path": "/"}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ({"method": "GET", "path": "//"}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ({"method": "GET", "path": "/example/.."}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ({"method": "POST", "path": "/"}, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            {"method": "GET", "path": "/", "query": [("Param2", "value2"), ("Param1", "value1")]},
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            {"method": "POST", "path": "/", "headers": HOST | FORM, "body": b"Param1=value1"},
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
    ids=["get-vanilla", "get-slashes", "get-relative", "post-vanilla", "get-query-order", "post-form"],
)
def test_the_published_cases_have_the_published_signatures(asked: dict[str, object], expected: str) -> None:
    assert signature("service", **({"headers": HOST, "body": b""} | asked)) == expected


def test_the_example_of_the_guide_is_signed_as_there() -> None:
    headers = {"host": "iam.amazonaws.com", "content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    query = [("Action", "ListUsers"), ("Version", "2010-05-08")]
    signed = signed_headers(KEYS, "iam", AT.timestamp(), method="GET", path="/", query=query, headers=headers, body=b"")
    assert signed == {
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
        "x-amz-date": "20150830T123600Z",
    }


paths = st.lists(st.text(st.sampled_from("aZ09-_.~:/ %é+"), max_size=8), max_size=4).map(
    lambda segments: "/" + "/".join(quote(segment, safe="") for segment in segments)
)
queries = st.lists(st.tuples(st.text(st.sampled_from("ab-~ /é&="), min_size=1), st.text(max_size=5)), max_size=3)


@settings(bounded, max_examples=examples(20))
@given(paths, queries, st.binary(max_size=50), st.sampled_from(["", "token/+="]), st.sampled_from(["a  b", " c "]))
def test_whatever_is_signed_is_signed_as_botocore_does(
    path: str, query: Sequence[tuple[str, str]], body: bytes, token: str, header: str
) -> None:
    keys = AwsKeys(access_key_id="A", secret_access_key="s", session_token=token, region="eu-west-1")
    headers = {"host": "h.example", "content-type": "application/json", "x-amz-meta": header}
    ours = signed_headers(
        keys, "bedrock", AT.timestamp(), method="POST", path=path, query=query, headers=headers, body=body
    )
    url = "https://h.example" + path + ("?" + urlencode(query, quote_via=quote) if query else "")
    request = AWSRequest("POST", url, {**headers}, body)
    with patch.object(auth, "get_current_datetime", lambda: AT.replace(tzinfo=None)):
        auth.SigV4Auth(Credentials("A", "s", token or None), "bedrock", "eu-west-1").add_auth(request)
    assert ours["authorization"] == request.headers["Authorization"]
    assert ours["x-amz-date"] == request.headers["X-Amz-Date"]
    assert ours.get("x-amz-security-token") == request.headers.get("X-Amz-Security-Token")


def test_a_secret_is_in_no_text_about_the_keys() -> None:
    assert KEYS.secret_access_key not in repr(KEYS)
