"""What botocore knows of Bedrock's Converse: how a request looks, and how it is signed."""

from datetime import UTC, datetime
from functools import cache
from unittest.mock import patch

import msgspec
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import ServiceModel
from botocore.session import Session
from botocore.validate import ParamValidator

from heterodyne.testing.scripted_engine import EngineCall

SIGNED = "AWS4-HMAC-SHA256"
SERVICE = "bedrock-runtime"


@cache
def _model() -> ServiceModel:
    return Session().get_service_model(SERVICE)


def check_shape(operation: str, body: bytes) -> None:
    """Raise where a body has members that Converse has not, others than it wants, or values that it would refuse."""
    shape = _model().operation_model(operation).input_shape
    report = ParamValidator().validate({"modelId": "m", **msgspec.json.decode(body)}, shape)
    assert not report.has_errors(), report.generate_report()


def check_signed(call: EngineCall, credentials: Credentials, region: str) -> None:
    """Raise where a call is not signed as botocore would sign it."""
    given = call.headers["authorization"]
    assert given.startswith(SIGNED), given
    names = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert {"host", "content-type", "x-amz-date"} <= set(names)
    headers = {name: call.headers[name] for name in names if not name.startswith("x-amz-")}
    request = AWSRequest("POST", f"http://{call.headers['host']}{call.path}", headers, call.body)
    at = datetime.strptime(call.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - at).total_seconds()) < 300, "AWS refuses what was signed long ago"
    with patch.object(auth, "get_current_datetime", lambda: at.replace(tzinfo=None)):
        auth.SigV4Auth(credentials, "bedrock", region).add_auth(request)
    assert given == request.headers["Authorization"]
    assert call.headers.get("x-amz-security-token") == credentials.token
