"""Sessions and their homes."""

from heterodyne.routing.kv.sticky_sessions import StickySessions, session_of


def test_a_session_is_at_home_where_it_last_was() -> None:
    sessions = StickySessions()
    assert sessions.home("a") is None
    sessions.settle("a", 3)
    sessions.settle("a", 4)
    assert sessions.home("a") == 4
    assert len(sessions) == 1


def test_a_forgotten_place_is_nobodys_home_until_somebody_settles_again() -> None:
    sessions = StickySessions()
    sessions.settle("a", 3)
    sessions.settle("b", 4)
    sessions.forget(3)
    assert sessions.home("a") is None
    assert sessions.home("b") == 4
    sessions.settle("a", 3)
    assert sessions.home("a") == 3


def test_the_session_unseen_for_longest_loses_its_home() -> None:
    sessions = StickySessions(sessions_max=2)
    for session in ("a", "b", "a", "c"):
        sessions.settle(session, 1)
    assert [sessions.home(session) for session in ("a", "b", "c")] == [1, None, 1]
    assert len(sessions) == 2


def test_the_header_comes_before_the_user_and_the_user_before_the_opening() -> None:
    opening = ("be terse", "hello")
    everything = session_of(b"t", header="h", user="u", opening=opening)
    assert everything == session_of(b"t", header="h")
    assert session_of(b"t", user="u", opening=opening) == session_of(b"t", user="u")
    assert len({everything, session_of(b"t", user="u"), session_of(b"t", opening=opening)}) == 3
    assert session_of(b"t") == ""


def test_equal_words_of_different_kinds_or_tenants_are_different_sessions() -> None:
    keys = {session_of(b"t", header="x"), session_of(b"t", user="x"), session_of(b"t", opening=("x",))}
    assert len(keys) == 3
    assert session_of(b"t", header="x") != session_of(b"u", header="x")


def test_conversations_that_share_only_the_system_prompt_are_told_apart() -> None:
    system = "s" * 10_000
    assert session_of(b"t", opening=(system, "one")) != session_of(b"t", opening=(system, "two"))
    assert session_of(b"t", opening=("a", "bc")) != session_of(b"t", opening=("ab", "c"))


def test_half_a_surrogate_pair_is_a_session_too() -> None:
    assert session_of(b"t", header="\ud83d")
