"""What workers tell each other."""

from heterodyne.routing.kv.chain import EMPTY, chain_of
from heterodyne.routing.kv.gossip import PrefixGossip, receive_gossip
from heterodyne.routing.kv.index import PrefixIndex

A, B = "a", "b"
CHAIN = chain_of(b"t", bytes(5000), 0.25)
LONG = chain_of(b"t", bytes(9000), 0.25)


def no_session(model: str, session: str, place: int) -> None:
    raise AssertionError("no session was told of")


def test_where_a_session_is_at_home_is_told_beside_prompts() -> None:
    gossip, homes = PrefixGossip(), list[tuple[str, str, int]]()
    gossip.note_home("m", "s", A)
    gossip.note_home("m", "t", "elsewhere")
    gossip.note(A, CHAIN)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, PrefixIndex(), {A: 7}.get, lambda *home: homes.append(home)) == 1
    assert homes == [("m", "s", 7)]
    assert gossip.take() is None


def test_what_one_worker_knows_another_hears_in_its_own_places() -> None:
    gossip, index = PrefixGossip(), PrefixIndex()
    gossip.note(A, CHAIN)
    gossip.note(B, LONG)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, index, {A: 7, B: 3}.get, no_session) == 2
    assert index.matches(LONG).by_place() == {7: CHAIN.ends[-1], 3: LONG.ends[-1]}
    assert index.insert(7, LONG) == CHAIN.ends[-1]  # proven, so the replica may be held to it


def test_a_replica_this_worker_does_not_know_is_passed_over() -> None:
    gossip, index = PrefixGossip(), PrefixIndex()
    gossip.note(A, CHAIN)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, index, {B: 3}.get, no_session) == 0
    assert index.entries == 0


def test_there_is_no_message_when_there_is_nothing_to_tell() -> None:
    gossip = PrefixGossip()
    gossip.note(A, EMPTY)
    assert gossip.take() is None
    gossip.note(A, CHAIN)
    assert gossip.take() is not None
    assert gossip.take() is None


def test_the_oldest_notes_go_when_nobody_takes_them() -> None:
    gossip, index = PrefixGossip(notes_max=2), PrefixIndex()
    for replica, chain in ((A, CHAIN), (B, CHAIN), (B, LONG)):
        gossip.note(replica, chain)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, index, {A: 0, B: 1}.get, no_session) == 2
    assert gossip.dropped == 1
    assert index.tokens(0) == 0


def test_a_message_takes_about_ten_bytes_a_block() -> None:
    gossip = PrefixGossip()
    gossip.note(A, LONG)
    message = gossip.take()
    assert message is not None
    assert len(message) < 14 * len(LONG.hashes)
