"""The table of paths."""

import pytest

from heterodyne.domain.operation import Operation
from heterodyne.gateway import routes
from heterodyne.gateway.settings import GatewaySettings

OPEN = {b"/health/live", b"/health/ready", b"/metrics", b"/openapi.json", b"/v2/health/live", b"/v2/health/ready"}

NAMED = (
    b"/v1/models/a",
    b"/v2/models/a",
    b"/v2/models/a/ready",
    b"/v2/models/a/infer",
    b"/v2/models/a/versions/1/infer",
    b"/v1/responses/a",
    b"/v1/responses/a/input_items",
    b"/v1/conversations/a",
    b"/v1/conversations/a/items",
    b"/v1/conversations/a/items/b",
    b"/v1/chat/completions/a",
    b"/v1/chat/completions/a/messages",
)


def test_only_what_says_nothing_of_anybody_is_open() -> None:
    assert {path for path, route in routes.ROUTES.items() if route.is_open} == OPEN
    for path in NAMED:
        route = routes.find(path)
        assert route is not None
        assert not route.is_open


def test_every_route_either_reads_a_request_or_is_a_page() -> None:
    for path in (*routes.ROUTES, *NAMED):
        route = routes.find(path)
        assert route is not None
        for one in (route, *route.also.values()):
            assert [one.read, one.page, one.stored_page].count(None) == 2
        assert route.method == (b"POST" if route.takes_body else b"GET")


@pytest.mark.parametrize("path", [b"/v1/models/a", b"/v1/models/org/name", b"/v1/models/a%2Fb"])
def test_a_models_name_may_have_slashes(path: bytes) -> None:
    assert routes.find(path) is routes.MODEL_ROUTE


STRANGE_TENSORS = (
    b"/v2/models",
    b"/v2/models/",
    b"/v2/models//infer",
    b"/v2/models/a/b/infer",
    b"/v2/models/a/infer/",
    b"/v2/models/a/versions/1",
    b"/v2/models/a/versions//infer",
    b"/v2/repository/index",
    b"/v2x",
)


@pytest.mark.parametrize(
    "path", [b"", b"/", b"/v1/chat", b"//v1/models", b"/v1/models\x00", b"/metrics/", *STRANGE_TENSORS]
)
def test_a_path_is_matched_whole(path: bytes) -> None:
    assert routes.find(path) is None


def test_a_slash_after_v2_changes_nothing() -> None:
    assert routes.find(b"/v2/") is routes.find(b"/v2")


@pytest.mark.parametrize(
    ("path", "model", "version"),
    [
        (b"/v2/models/a/infer", "a", None),
        (b"/v2/models/org%2Fname/infer", "org/name", None),
        (b"/v2/models/a/versions/1.0%20b/infer", "a", "1.0 b"),
    ],
)
def test_a_path_names_the_model_and_the_version_that_tensors_are_for(
    path: bytes, model: str, version: str | None
) -> None:
    route = routes.find(path)
    assert route is not None
    assert route.read is not None
    body = b'{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]}'
    request = route.read(body, "1", 0.0, GatewaySettings())
    assert (request.operation, request.model, request.model_version) == (Operation.INFER, model, version)
    assert request.body is body
