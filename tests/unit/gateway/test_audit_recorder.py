"""The audit log has the words of those alone whose words may rest where it does."""

import pytest
from msgspec import structs

from heterodyne.domain.audit import Content, RequestEntry
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import Scopes
from heterodyne.gateway.audit_recorder import AuditRecorder
from tests.support.tenants import caller

RECORD = RequestRecord(id="req_1", at=1.0, operation="chat", model="chat", status=403)


class MemorySink:
    """What was written to it."""

    is_blocked = False

    def __init__(self) -> None:
        self.written: list[Content] = []
        self.entries: list[RequestEntry] = []

    def write(self, entry: RequestEntry, content: Content) -> None:
        self.written.append(content)
        self.entries.append(entry)


@pytest.mark.parametrize(
    ("scopes", "regions", "keeps", "expected"),
    [
        ((), ("us",), True, True),
        ((), ("us",), False, False),
        ((Scopes(regions=("eu",)),), (), True, True),
        ((Scopes(regions=("eu",)),), ("eu",), True, True),
        ((Scopes(regions=("eu",)),), ("us",), True, False),
        ((Scopes(regions=("eu",)),), ("eu", "us"), True, False),
        ((Scopes(regions=("eu", "us")), Scopes(regions=("us",))), ("us",), True, True),
    ],
)
def test_words_are_kept_where_the_project_says_so_and_the_log_is_in_its_regions(
    scopes: tuple[Scopes, ...], regions: tuple[str, ...], keeps: bool, expected: bool
) -> None:
    sink = MemorySink()
    asked = structs.replace(caller(scopes=scopes), keeps_content=keeps)
    AuditRecorder(sink, regions).refused(RECORD, asked, b'{"messages":[]}')
    assert [one.is_kept for one in sink.written] == [expected]


def test_an_entry_says_where_its_words_may_go() -> None:
    sink = MemorySink()
    for scopes in ((), (Scopes(regions=("us", "eu")),), (Scopes(regions=("eu",)), Scopes(regions=("us",)))):
        AuditRecorder(sink).refused(RECORD, caller(scopes=scopes), b"{}")
    assert [one.regions for one in sink.entries] == [None, ("eu", "us"), ()]
