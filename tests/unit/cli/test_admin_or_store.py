import pytest

from heterodyne.cli.admin_client import AdminUnreachable
from heterodyne.cli.admin_or_store import AdminOrStore


def _gone(*, is_refused: bool) -> AdminUnreachable:
    error = AdminUnreachable("nothing answers")
    error.__cause__ = ConnectionRefusedError() if is_refused else TimeoutError()
    return error


def test_where_no_gateway_listens_the_store_answers_everything(capsys: pytest.CaptureFixture[str]) -> None:
    def ask(source: str) -> str:
        asked.append(source)
        if source == "admin":
            raise _gone(is_refused=True)
        return source

    asked: list[str] = []
    sources = AdminOrStore("admin", lambda: "store", instead="reading the store")
    assert [sources.call(ask), sources.call(ask)] == ["store", "store"]
    assert asked == ["admin", "store", "store"]
    assert capsys.readouterr().err == "reading the store\n"


def test_a_gateway_that_has_answered_is_not_replaced_by_the_store() -> None:
    def fail(_: str) -> str:
        raise _gone(is_refused=True)

    sources = AdminOrStore("admin", lambda: "store", instead="")
    assert sources.call(str) == "admin"
    with pytest.raises(AdminUnreachable):
        sources.call(fail)


@pytest.mark.parametrize(("has_store", "is_refused"), [(False, True), (True, False)])
def test_only_a_refused_connection_leads_to_a_store_that_there_is(has_store: bool, is_refused: bool) -> None:
    def fail(_: str) -> str:
        raise _gone(is_refused=is_refused)

    sources = AdminOrStore("admin", (lambda: "store") if has_store else None, instead="")
    with pytest.raises(AdminUnreachable):
        sources.call(fail)
