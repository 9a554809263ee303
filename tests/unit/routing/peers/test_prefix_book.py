"""What was sent to whom."""

from random import Random

from heterodyne.routing.peers.by_place import ByPlace
from heterodyne.routing.peers.prefix_book import PrefixBook
from tests.unit.routing.peers.replica_states import chain, replica_state, three


def test_a_match_ends_where_the_prompts_part() -> None:
    book, (a, b, c) = PrefixBook(), three()
    book.note(chain(1, 2, 3), a, 1000)
    book.note(chain(1, 2, 4, 5), b, 1000)
    assert book.matched(chain(1, 2, 4, 6), (a, b, c)) == [200, 300, 0]
    assert book.matched(chain(9, 2, 4), (a, b, c)) == [0, 0, 0]
    assert book.matched(chain(), (a, b, c)) == [0, 0, 0]


def test_the_least_recently_sent_goes_first_and_tails_go_before_prefixes() -> None:
    book, a = PrefixBook(), replica_state("a", 0)
    book.note(chain(1, 2, 3), a, 400)
    book.note(chain(7, 8), a, 400)
    assert book.matched(chain(1, 2, 3), (a,)) == [200]
    book.note(chain(1, 2), a, 400)
    book.note(chain(9), a, 400)
    assert book.matched(chain(7, 8), (a,)) == [100]
    assert book.matched(chain(1, 2), (a,)) == [200]
    assert book.index.entries == 4


def test_a_replica_that_takes_a_place_inherits_nothing() -> None:
    book, former, next_one = PrefixBook(), replica_state("a", 0), replica_state("z", 0)
    book.note(chain(1, 2), former, 1000)
    assert book.matched(chain(1, 2), (next_one,)) == [0]
    book.note(chain(5), next_one, 1000)
    assert book.matched(chain(1, 2), (next_one,)) == [0]
    assert book.matched(chain(5), (next_one,)) == [100]
    assert book.index.entries == 1


def test_the_book_agrees_with_a_plain_list_of_what_was_sent() -> None:
    random, book, replica_states = Random(3), PrefixBook(), three()
    sent: dict[str, list[tuple[int, ...]]] = {"a": [], "b": [], "c": []}
    for _ in range(300):
        blocks: list[int] = []
        for _ in range(random.randrange(1, 6)):
            blocks.append(hash((tuple(blocks), random.randrange(3))))
        expected = [
            100 * max((_shared(blocks, other) for other in sent[one.replica.id]), default=0) for one in replica_states
        ]
        assert book.matched(chain(*blocks), replica_states) == expected
        target = random.choice(replica_states)
        book.note(chain(*blocks), target, float("inf"))
        sent[target.replica.id].append(tuple(blocks))


def test_a_book_holds_no_more_than_it_may() -> None:
    random, book, replica_states = Random(3), PrefixBook(), three()
    for _ in range(2000):
        start = random.randrange(500)
        book.note(
            chain(*(1000 * start + depth for depth in range(random.randrange(1, 9)))),
            random.choice(replica_states),
            2000,
        )
    assert book.index.entries <= 3 * 20


def test_what_ends_late_does_not_bring_a_replica_back() -> None:
    memories: ByPlace[list[int]] = ByPlace(list)
    former, next_one = replica_state("a", 0), replica_state("z", 0)
    memories.of(former).append(1)
    memories.of(next_one).append(2)
    assert memories.try_of(former) is None
    assert memories.of(next_one) == [2]


def _shared(blocks: list[int], other: tuple[int, ...]) -> int:
    count = 0
    for mine, theirs in zip(blocks, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
