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

    def write(self, entry: RequestEntry, content: Content) -> None:
        self.written.append(content)


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
