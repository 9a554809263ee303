"""The table of paths."""

import pytest

from heterodyne.gateway import routes

OPEN = {b"/health/live", b"/health/ready", b"/metrics", b"/openapi.json"}


def test_only_what_says_nothing_of_anybody_is_open() -> None:
    assert {path for path, route in routes.ROUTES.items() if route.is_open} == OPEN
    assert not routes.MODEL_ROUTE.is_open


def test_every_route_either_reads_a_request_or_is_a_page() -> None:
    for route in (*routes.ROUTES.values(), routes.MODEL_ROUTE):
        assert (route.read is None) != (route.page is None)
        assert route.method == (b"POST" if route.read else b"GET")


@pytest.mark.parametrize("path", [b"/v1/models/a", b"/v1/models/org/name", b"/v1/models/a%2Fb"])
def test_a_models_name_may_have_slashes(path: bytes) -> None:
    assert routes.find(path) is routes.MODEL_ROUTE


@pytest.mark.parametrize("path", [b"", b"/", b"/v1/chat", b"//v1/models", b"/v1/models\x00", b"/metrics/"])
def test_a_path_is_matched_whole(path: bytes) -> None:
    assert routes.find(path) is None
