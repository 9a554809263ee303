"""Who is signed in, and for how long."""

from heterodyne.console.access.sessions import IDLE_S, WHOLE_S, Sessions

KEY, OTHER = b"k" * 32, b"o" * 32


def test_a_session_opens_with_its_token_alone() -> None:
    sessions = Sessions()
    sessions.open("token", KEY, 0.0)
    assert sessions.try_use("token", 1.0) == KEY
    assert sessions.try_use("tokem", 1.0) is None
    assert sessions.try_use("", 1.0) is None


def test_a_session_that_nobody_uses_is_over() -> None:
    sessions = Sessions()
    sessions.open("token", KEY, 0.0)
    assert sessions.try_use("token", IDLE_S - 1) == KEY
    assert sessions.try_use("token", 2 * IDLE_S - 2) == KEY  # it was used in between
    assert sessions.try_use("token", 3 * IDLE_S - 2) is None
    assert len(sessions) == 0


def test_a_session_is_over_in_the_end_however_much_it_is_used() -> None:
    sessions = Sessions()
    sessions.open("token", KEY, 0.0)
    now_s = 0.0
    while now_s + IDLE_S / 2 < WHOLE_S:
        now_s += IDLE_S / 2
        assert sessions.try_use("token", now_s) == KEY
    assert sessions.try_use("token", WHOLE_S) is None


def test_of_too_many_sessions_the_oldest_goes() -> None:
    sessions = Sessions(sessions_max=3)
    for number in range(5):
        sessions.open(str(number), KEY, float(number))
    assert [sessions.try_use(str(number), 5.0) for number in range(5)] == [None, None, KEY, KEY, KEY]


def test_sessions_that_are_over_make_room_before_any_that_is_not() -> None:
    sessions = Sessions(idle_s=10.0, sessions_max=2)
    sessions.open("used", KEY, 0.0)
    sessions.open("idle", KEY, 1.0)
    sessions.try_use("used", 9.0)
    sessions.open("new", KEY, 12.0)
    assert sessions.try_use("used", 12.0) == KEY


def test_whoever_signs_out_is_out() -> None:
    sessions = Sessions()
    sessions.open("token", KEY, 0.0)
    sessions.close("another")
    assert sessions.try_use("token", 1.0) == KEY
    sessions.close("token")
    assert sessions.try_use("token", 1.0) is None


def test_sessions_of_keys_that_are_gone_are_over() -> None:
    sessions = Sessions()
    sessions.open("one", KEY, 0.0)
    sessions.open("two", OTHER, 0.0)
    sessions.keep_only(frozenset({OTHER}))
    assert (sessions.try_use("one", 1.0), sessions.try_use("two", 1.0)) == (None, OTHER)


def test_neither_tokens_nor_keys_are_kept() -> None:
    sessions = Sessions()
    sessions.open("a-secret-token", KEY, 0.0)
    assert "a-secret-token" not in repr(vars(sessions))
