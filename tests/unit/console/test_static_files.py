"""The page's files: what is served, and what is not."""

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette

from heterodyne.console.static_files import FOLDER, INDEX, page_routes, read_file
from tests.support.asgi import AsgiAnswer, ask


@pytest.fixture
def app(tmp_path: Path) -> Starlette:
    (tmp_path / "index.html").write_text("<!doctype html>" + " " * 500, encoding="utf-8")
    (tmp_path / "view.js").write_text("export {}", encoding="utf-8")
    (tmp_path / "secret.key").write_text("secret", encoding="utf-8")
    files = {name: read_file(tmp_path / name) for name in ("index.html", "view.js")}
    return Starlette(routes=list(page_routes(files)))


async def get(app: Starlette, path: str, **headers: str) -> AsgiAnswer:
    return await ask(app, "GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})


async def test_the_page_is_at_the_root(app: Starlette) -> None:
    answer = await get(app, "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.body.startswith(b"<!doctype html>")


async def test_files_are_revalidated_by_their_tag(app: Starlette) -> None:
    first = await get(app, "/static/index.html")
    assert first.headers["cache-control"] == "no-cache"
    again = await get(app, "/static/index.html", if_none_match=f'"other", {first.headers["etag"]}')
    assert (again.status, again.body) == (304, b"")
    assert (await get(app, "/static/view.js", if_none_match=first.headers["etag"])).status == 200


async def test_whoever_takes_gzip_gets_it_under_a_tag_of_its_own(app: Starlette) -> None:
    plain, packed = await get(app, "/"), await get(app, "/", accept_encoding="br, gzip;q=0.8")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    refused = await get(app, "/", accept_encoding="gzip;q=0")
    assert "content-encoding" not in refused.headers


async def test_what_would_not_be_smaller_is_not_packed(app: Starlette) -> None:
    assert "content-encoding" not in (await get(app, "/static/view.js", accept_encoding="gzip")).headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/secret.key",
        "/static/../index.html",
        "/static/..%2f..%2fsettings.py",
        "/static/../../settings.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/view.js/",
        "/static/VIEW.JS",
    ],
)
async def test_nothing_else_is_served(app: Starlette, path: str) -> None:
    answer = await get(app, path)
    assert (answer.status, answer.json()["error"]["code"]) == (404, "unknown_path")


def test_the_package_has_a_page() -> None:
    assert (FOLDER / INDEX).is_file()
