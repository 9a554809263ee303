"""What workers tell each other."""

from heterodyne.routing.kv.chain import EMPTY, chain_of
from heterodyne.routing.kv.gossip import SENT_MAX, PrefixGossip, SentElsewhere, receive_gossip
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
    assert receive_gossip(message, PrefixIndex(), SentElsewhere(), {A: 7}.get, lambda *home: homes.append(home)) == 1
    assert homes == [("m", "s", 7)]
    assert gossip.take() is None


def test_what_one_worker_knows_another_hears_in_its_own_places() -> None:
    gossip, index = PrefixGossip(), PrefixIndex()
    gossip.note(A, CHAIN)
    gossip.note(B, LONG)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, index, SentElsewhere(), {A: 7, B: 3}.get, no_session) == 2
    assert index.matches(LONG).by_place() == {7: CHAIN.ends[-1], 3: LONG.ends[-1]}


def test_a_replica_is_held_to_what_another_worker_has_sent_once_it_is_computed() -> None:
    gossip, index, sent = PrefixGossip(), PrefixIndex(), SentElsewhere()
    gossip.note(A, CHAIN)
    message = gossip.take()
    assert message is not None
    receive_gossip(message, index, sent, {A: 7}.get, no_session)
    assert index.insert(7, CHAIN) == 0, "it is under way, or a burst of equal prompts would look like a bad cache"
    gossip.note_computed(A, CHAIN)
    gossip.note_computed(B, CHAIN)  # of which nothing was heard
    message = gossip.take()
    assert message is not None
    assert len(message) < 50
    assert receive_gossip(message, index, sent, {A: 7, B: 3}.get, no_session) == 0
    assert index.insert(7, CHAIN) == CHAIN.ends[-1]
    assert index.tokens(3) == 0


def test_that_a_prompt_is_computed_is_never_told_before_it_was_sent() -> None:
    gossip, index, sent = PrefixGossip(), PrefixIndex(), SentElsewhere()
    chains = [chain_of(bytes([number]), bytes(200_000), 0.25) for number in range(90)]
    for chain in chains:
        gossip.note(A, chain)
        gossip.note_computed(A, chain)
    messages = 0
    while (message := gossip.take()) is not None:
        messages += 1
        receive_gossip(message, index, sent, {A: 0}.get, no_session)
    assert messages > 1
    assert all(index.insert(0, chain) == chain.ends[-1] for chain in chains)


def test_prompts_that_are_never_told_to_be_computed_are_forgotten() -> None:
    sent = SentElsewhere()
    chains = [chain_of(bytes([number % 256, number // 256]), bytes(300), 0.25) for number in range(SENT_MAX + 1)]
    for chain in chains:
        sent.add(A, chain)
    assert sent.take((A, chains[0].hashes[-1])) is None
    assert sent.take((A, chains[1].hashes[-1])) == chains[1]
    assert sent.take((A, chains[1].hashes[-1])) is None


def test_a_replica_this_worker_does_not_know_is_passed_over() -> None:
    gossip, index = PrefixGossip(), PrefixIndex()
    gossip.note(A, CHAIN)
    message = gossip.take()
    assert message is not None
    assert receive_gossip(message, index, SentElsewhere(), {B: 3}.get, no_session) == 0
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
    assert receive_gossip(message, index, SentElsewhere(), {A: 0, B: 1}.get, no_session) == 2
    assert gossip.dropped == 1
    assert index.tokens(0) == 0


def test_a_message_takes_about_ten_bytes_a_block() -> None:
    gossip = PrefixGossip()
    gossip.note(A, LONG)
    message = gossip.take()
    assert message is not None
    assert len(message) < 14 * len(LONG.hashes)
