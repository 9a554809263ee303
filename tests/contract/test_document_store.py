"""What every store knows of documents, asked of SQLite and of a real PostgreSQL."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.domain.errors import BodyTooLarge
from heterodyne.ports.document_store import Document, DocumentQuery, DocumentStore
from tests.support.document_stores import DATABASES, Opened, documents_of
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

NOW = 1000.0
LATER = 2000.0
OURS, THEIRS = "acme/search", "other/chat"


@pytest.fixture(params=DATABASES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    return documents_of(request, tmp_path)


def document(id: str, parent: str = "", at: float = 1.0, *, kind: str = "response", **other: object) -> Document:
    values = {"project": OURS, "expires_at": LATER, "body": f'{{"id": "{id}"}}'.encode(), **other}
    return Document(id=id, kind=kind, parent=parent, created_at=at, **values)  # type: ignore[arg-type]


def items(*ids: str, at: float = 1.0, parent: str = "conv", project: str = OURS) -> list[Document]:
    return [document(id, parent, at, kind="item", project=project) for id in ids]


async def ids_of(store: DocumentStore, kind: str, parent: str | None = None, **other: object) -> list[str]:
    values = {"project": OURS, "limit": 100, "now": NOW, **other}
    query = DocumentQuery(kind=kind, parent=parent, **values)  # type: ignore[arg-type]
    return [one.id for one in await store.page(query)]


async def chained(
    store: DocumentStore, id: str, *, project: str = OURS, now: float = NOW, most: int = 100
) -> list[str]:
    return [one.id for one in await store.chain(project, "response", id, now, most=most, bytes_max=1 << 20)]


async def test_what_was_added_is_there_for_whoever_opens_it_again(opened: Opened) -> None:
    one = document("a", "p", 1.25, place=3, revision=2, body='{"ä": "語 🙂"}'.encode())
    large = document("b", body=b'"' + bytes(range(256)) * 4096 + b'"')
    async with opened() as store:
        assert await store.add([one, large])
    async with opened() as again:
        assert await again.get(OURS, "response", "a", NOW) == one
        assert await again.get(OURS, "response", "b", NOW) == large
        assert await again.get(OURS, "item", "a", NOW) is None, "of another kind"


async def test_of_documents_with_an_id_that_is_taken_none_is_added(opened: Opened) -> None:
    many = [document(f"new-{number:03}") for number in range(120)]
    async with opened() as store:
        assert await store.add([])
        assert await store.add([document("a", project=THEIRS)])
        assert not await store.add([*many, document("a")])
        assert await ids_of(store, "response") == []
        assert not await store.add([document("b"), document("b")])
        assert await store.add(many)
        assert len(await ids_of(store, "response", limit=1000)) == 120
        found = await store.get(THEIRS, "response", "a", NOW)
        assert found is not None
        assert found.body == b'{"id": "a"}'


async def test_to_another_project_nothing_is_there(opened: Opened) -> None:
    conversation = document("conv", kind="conversation")
    async with opened() as store:
        await store.add([document("a"), document("b", "a"), conversation, *items("i")])
        assert await store.get(THEIRS, "response", "a", NOW) is None
        assert await chained(store, "b", project=THEIRS) == []
        assert await ids_of(store, "response", project=THEIRS) == []
        assert await ids_of(store, "response", project=THEIRS, after="a") == []
        assert not await store.delete(THEIRS, "response", "a")
        assert await store.delete_children(THEIRS, "item", "conv") == 0
        assert not await store.replace(document("a", project=THEIRS, revision=1, body=b"theirs"))
        assert not await store.append(items("j", project=THEIRS), NOW)
        await store.prolong(THEIRS, ["a", "conv", "i"], 2 * LATER)
        assert await store.get(OURS, "response", "a", NOW) == document("a"), "and nothing of it has changed"
        assert await store.get(OURS, "conversation", "conv", NOW) == conversation
        assert await ids_of(store, "item", "conv") == ["i"]


async def test_nothing_of_another_project_is_met_on_the_way(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("theirs", project=THEIRS), document("ours", "theirs"), document("last", "ours")])
        assert await chained(store, "last") == ["ours", "last"]
        await store.add(items("i", parent="theirs"))
        assert await ids_of(store, "item", "theirs", project=THEIRS) == []
        assert await ids_of(store, "response", after="theirs") == []


async def test_ids_that_none_can_have_are_not_there(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("a")])
        for id in ("", "a\x00", "\x00", "\ud800", "語", "a' OR '1'='1", "x" * 100_000):
            assert await store.get(OURS, "response", id, NOW) is None
            assert await chained(store, id) == []
            assert await ids_of(store, "response", id or "none") == []
            assert await ids_of(store, "response", after=id or "none") == []
            assert not await store.delete(OURS, "response", id)
            assert await store.delete_children(OURS, "item", id) == 0
            assert not await store.append(items("i", parent=id), NOW)
            await store.prolong(OURS, [id], 2 * LATER)
        assert await ids_of(store, "response") == ["a"]


async def test_many_are_got_at_once_of_every_project(opened: Opened) -> None:
    many = [document(f"many-{number:03}", project=(OURS, THEIRS)[number % 2]) for number in range(120)]
    others = [document("item", kind="item"), document("expired", expires_at=NOW)]
    async with opened() as store:
        await store.add([*many, *others])
        asked = [*(one.id for one in many), "item", "expired", "none", "a\x00", "\ud800"]
        found = await store.get_many("response", asked, NOW)
        assert sorted(found, key=lambda one: one.id) == many
        assert await store.get_many("response", [], NOW) == ()


async def test_a_chain_begins_with_the_oldest(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("c", "b"), document("a"), document("b", "a", 9.0), document("fork", "a")])
        assert await chained(store, "c") == ["a", "b", "c"]
        assert await chained(store, "fork") == ["a", "fork"]
        assert await chained(store, "a") == ["a"]
        assert await chained(store, "none") == []
        assert await chained(store, "c", most=3) == ["a", "b", "c"]
        assert await chained(store, "c", most=2) == ["b", "c"], "the latest"


async def test_a_chain_that_is_broken_shows_where(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("a"), document("b", "a", expires_at=NOW), document("c", "b"), document("d", "c")])
        await store.add([document("item", "conv"), document("conv", kind="conversation")])
        (first, _) = await store.chain(OURS, "response", "d", NOW, most=100, bytes_max=1 << 20)
        assert (first.id, first.parent) == ("c", "b"), "it has expired"
        assert await chained(store, "d", now=NOW - 1) == ["a", "b", "c", "d"]
        assert await store.delete(OURS, "response", "c")
        assert await chained(store, "d") == ["d"]
        assert await chained(store, "item") == ["item"], "its parent is of another kind"


async def test_a_circle_ends(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("a", "c"), document("b", "a"), document("c", "b"), document("self", "self")])
        assert await chained(store, "c") == ["a", "b", "c"]
        assert await chained(store, "self") == ["self"]


async def test_a_long_chain_is_read_at_once(opened: Opened) -> None:
    ids = [f"r{number:04}" for number in range(1000)]
    async with opened() as store:
        await store.add([document(id, parent) for id, parent in zip(ids, ["", *ids], strict=False)])
        assert await chained(store, ids[-1], most=1000) == ids
        assert await chained(store, ids[-1], most=300) == ids[-300:]


async def test_pages_follow_each_other_forth_and_back(opened: Opened) -> None:
    times = {"d": 1.0, "a": 2.0, "c": 2.0, "B": 2.0, "e": 3.5}
    order = ["d", "B", "a", "c", "e"]
    async with opened() as store:
        await store.add([document(id, at=at) for id, at in times.items()])
        await store.add([document("x", "d", 1.5, kind="item"), document("y", project=THEIRS)])
        for is_descending in (False, True):
            wanted = order[::-1] if is_descending else order
            for parent in (None, ""):
                seen: list[str] = []
                while len(seen) < len(wanted):
                    after = seen[-1] if seen else ""
                    some = await ids_of(store, "response", parent, after=after, limit=2, is_descending=is_descending)
                    assert 1 <= len(some) <= 2
                    seen += some
                assert seen == wanted
                assert await ids_of(store, "response", parent, after=wanted[-1], is_descending=is_descending) == []
        assert await ids_of(store, "response", after="x") == [], "it is not among them"
        assert await ids_of(store, "response", after="none") == []


async def test_children_are_in_the_order_of_their_places_whatever_the_clock_says(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("conv", kind="conversation"), *items("other", parent="else")])
        assert await store.append(items("b", "a", at=9.0), NOW)
        assert await store.append(items("c", at=5.0), NOW), "another gateway, whose clock is behind"
        assert await ids_of(store, "item", "conv") == ["b", "a", "c"]
        assert await ids_of(store, "item", "conv", after="a") == ["c"]
        assert await ids_of(store, "item", "conv", after="other") == [], "of another parent"
        assert await ids_of(store, "item", "conv", after="c", is_descending=True, limit=1) == ["a"]
        assert await ids_of(store, "item") == ["other", "c", "b", "a"], "of any parent: by time"
        found = await store.get(OURS, "conversation", "conv", NOW)
        assert found is not None
        assert found.revision == 2


async def test_nothing_is_appended_to_what_is_not_there(opened: Opened) -> None:
    conversation = document("conv", kind="conversation")
    async with opened() as store:
        assert not await store.append(items("a"), NOW)
        await store.add([conversation])
        assert not await store.append(items("a"), LATER), "it has expired"
        assert await store.append(items("a"), NOW)
        assert not await store.append(items("b", "a"), NOW), "an id is taken"
        assert await ids_of(store, "item", "conv") == ["a"]
        found = await store.get(OURS, "conversation", "conv", NOW)
        assert found is not None
        assert found.revision == 1, "what failed has left nothing"
        assert await store.delete(OURS, "conversation", "conv")
        assert not await store.append(items("c"), NOW)


async def test_of_twenty_who_append_at_once_each_has_places_of_its_own(opened: Opened) -> None:
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(opened()) for _ in range(2)]
        await stores[0].add([document("conv", kind="conversation")])
        pairs = [items(f"{number:02}-first", f"{number:02}-then", at=float(number)) for number in range(20)]
        appending = [stores[number % 2].append(pair, NOW) for number, pair in enumerate(pairs)]
        assert all(await asyncio.gather(*appending))
        query = DocumentQuery(project=OURS, kind="item", parent="conv", limit=100, now=NOW)
        found = await stores[0].page(query)
        assert [one.place for one in found] == list(range(40))
        assert {tuple(one.id for one in found[start : start + 2]) for start in range(0, 40, 2)} == {
            tuple(one.id for one in pair) for pair in pairs
        }, "what was appended together stands together"


async def test_of_two_who_replace_at_once_one_is_told_to_look_again(opened: Opened) -> None:
    first = document("a", revision=1, body=b"1", expires_at=3 * LATER)
    async with opened() as store:
        await store.add([document("a")])
        assert await store.replace(first)
        assert not await store.replace(structs.replace(first, body=b"2"))
        assert not await store.replace(structs.replace(first, revision=2, kind="item"))
        assert await store.get(OURS, "response", "a", NOW) == first
        raced = await asyncio.gather(
            *(store.replace(structs.replace(first, revision=2, body=b"%d" % number)) for number in range(10))
        )
        assert raced.count(True) == 1
        assert not await store.replace(document("none", revision=1))


async def test_a_document_and_its_children_are_deleted_apart(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("conv", kind="conversation"), *items("a", "b"), *items("c", parent="else")])
        assert not await store.delete(OURS, "item", "conv"), "of another kind"
        assert await store.delete(OURS, "conversation", "conv")
        assert not await store.delete(OURS, "conversation", "conv")
        assert await ids_of(store, "item", "conv") == ["a", "b"]
        assert await store.delete_children(OURS, "response", "conv") == 0
        assert await store.delete_children(OURS, "item", "conv") == 2
        assert await ids_of(store, "item") == ["c"]


async def test_what_has_expired_is_not_there_and_is_forgotten(opened: Opened) -> None:
    times = {"a": NOW - 2, "b": NOW - 1, "c": NOW, "d": NOW + 1}
    async with opened() as store:
        await store.add([document(id, expires_at=at) for id, at in times.items()])
        assert await ids_of(store, "response") == ["d"]
        assert [id for id in times if await store.get(OURS, "response", id, NOW)] == ["d"]
        assert await store.forget(NOW, 1) == 1
        assert await ids_of(store, "response", now=0.0) == ["b", "c", "d"], "the oldest first"
        assert await store.forget(NOW, 10) == 1
        assert await store.forget(NOW, 10) == 0
        assert await ids_of(store, "response", now=0.0) == ["c", "d"]


async def test_what_is_used_is_kept_for_longer_and_never_shorter(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("a", expires_at=NOW + 1), document("b", expires_at=NOW + 9)])
        await store.prolong(OURS, ["b", "a", "a", "none"], NOW + 5)
        await store.prolong(OURS, [], NOW + 50)
        assert [one.expires_at for one in await store.page(_all())] == [NOW + 5, NOW + 9]
        many = [f"m{number}" for number in range(200)]
        await store.add([document(id) for id in many])
        await asyncio.gather(
            *(store.prolong(OURS, many[:: (-1) ** number], LATER + number) for number in range(1, 9)),
        )
        found = [one for one in await store.page(_all()) if one.id in many]
        assert {one.expires_at for one in found} == {LATER + 8}


async def test_workers_who_have_opened_the_same_store_write_at_once(opened: Opened) -> None:
    async with AsyncExitStack() as stack:
        stores = await asyncio.gather(*(stack.enter_async_context(opened()) for _ in range(4)))
        adding = [
            store.add([document(f"w{worker}-{number}", body=b"0" * 20_000)])
            for number in range(25)
            for worker, store in enumerate(stores)
        ]
        assert all(await asyncio.gather(*adding))
        for store in stores:
            assert len(await ids_of(store, "response", limit=1000)) == 100


def _all() -> DocumentQuery:
    return DocumentQuery(project=OURS, kind="response", limit=1000, now=NOW)


async def test_no_more_is_read_than_may_be(opened: Opened) -> None:
    async with opened() as store:
        await store.add([document("a", body=b"1" * 100), document("b", parent="a", body=b"2" * 100)])
        assert len(await store.chain(OURS, "response", "b", NOW, most=10, bytes_max=200)) == 2
        with pytest.raises(BodyTooLarge, match="200 bytes; the limit is 199"):
            await store.chain(OURS, "response", "b", NOW, most=10, bytes_max=199)
        query = DocumentQuery(project=OURS, kind="response", limit=10, now=NOW, bytes_max=200)
        assert len(await store.page(query)) == 2
        with pytest.raises(BodyTooLarge):
            await store.page(structs.replace(query, bytes_max=199))
        assert len(await store.page(structs.replace(query, bytes_max=100, limit=1))) == 1
        assert await store.chain(OURS, "response", "none", NOW, most=10, bytes_max=0) == ()


async def test_which_of_many_ids_are_there_is_told_of_all_projects(opened: Opened) -> None:
    ours = [document(f"a-{number}") for number in range(120)]
    async with opened() as store:
        await store.add([*ours, document("theirs", project=THEIRS, kind="file"), document("old", expires_at=NOW)])
        asked = [*(one.id for one in ours), "theirs", "old", "none", "odd\x00\ud800"]
        assert await store.known(asked, NOW) == {*(one.id for one in ours), "theirs"}
        assert await store.known([], NOW) == frozenset()
