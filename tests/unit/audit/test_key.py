"""The key: made for its owner alone, made once, shown to nobody."""

import hmac
import stat
from pathlib import Path

import pytest

from heterodyne.audit.key import AuditKey, ContentKey, open_key
from heterodyne.domain.errors import AuditBroken, SettingsInvalid

SECRET = bytes(range(32))


def test_a_key_is_made_on_first_use_for_its_owner_alone_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "audit.key"
    made = open_key(path, may_create=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert open_key(path, may_create=True).line_hash(b"a") == made.line_hash(b"a")
    assert [one.name for one in path.parent.iterdir()] == ["audit.key"], "no draft is left behind"


def test_a_lost_key_is_not_made_again_where_there_may_be_no_new_one(tmp_path: Path) -> None:
    with pytest.raises(AuditBroken, match="not there"):
        open_key(tmp_path / "audit.key", may_create=False)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "audit.key"
    open_key(path, may_create=True)
    path.chmod(mode)
    with pytest.raises(SettingsInvalid, match="chmod 600"):
        open_key(path, may_create=True)


@pytest.mark.parametrize("text", ["", "zz", "ab" * 31, "ab" * 33, "ä" * 32])
def test_a_file_that_holds_no_key_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "audit.key"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(SettingsInvalid, match="no audit key") as caught:
        open_key(path, may_create=True)
    assert not text or text not in str(caught.value)


def test_no_secret_is_in_what_a_key_shows_of_itself() -> None:
    key = AuditKey(SECRET)
    shown = f"{key!r} {key} {key.content!r} {key.content}"
    for secret in (SECRET, key.content.expose()):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown


def test_each_use_has_a_key_of_its_own() -> None:
    key = AuditKey(SECRET)
    assert len({key.line_hash(b"x"), key.mac("x"), key.content.hmac("", "x", ()), key.content.expose().hex()}) == 4


def test_a_mac_tells_fields_apart() -> None:
    key = AuditKey(SECRET)
    assert len({key.mac("ab", "c"), key.mac("a", "bc"), key.mac("abc"), key.mac("a", "b", "c")}) == 4


def test_the_same_text_has_another_hash_in_another_project_and_as_an_answer() -> None:
    key = ContentKey(SECRET)
    texts = (b"hello",)
    assert len({key.hmac("a", "prompt", texts), key.hmac("b", "prompt", texts), key.hmac("a", "answer", texts)}) == 3


def test_the_hash_of_a_text_is_the_hmac_that_any_library_makes() -> None:
    expected = hmac.digest(SECRET, b"prompt\0acme/search\0hello", "sha256").hex()
    assert ContentKey(SECRET).hmac("acme/search", "prompt", (b"hello",)) == expected


def test_how_an_answer_was_cut_into_pieces_does_not_change_its_hash() -> None:
    key = ContentKey(SECRET)
    assert key.hmac("a", "answer", (b"hel", b"", b"lo")) == key.hmac("a", "answer", (b"hello",))
