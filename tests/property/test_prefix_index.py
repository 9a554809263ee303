"""The prefix index against the plainest thing that could do its work."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.routing.kv.chain import Chain, chain_of, chain_of_ids, salt_of
from heterodyne.routing.kv.index import PrefixIndex
from tests.support.splits import bounded

PLACES = 4
BLOCKS_MAX = 12
places = st.integers(0, PLACES - 1)
paths = st.lists(st.integers(0, 2), min_size=0, max_size=6)  # a small tree, so that prompts share beginnings
steps = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), places, paths),
        st.tuples(st.just("prove"), places, paths),
        st.tuples(st.just("remove"), places, paths),
        st.tuples(st.just("limit"), places, st.integers(0, 60)),
        st.tuples(st.just("trim"), places, st.integers(0, 60)),
        st.tuples(st.just("forget"), places, st.none()),
    ),
    max_size=60,
)


def chain_of_path(path: list[int]) -> Chain:
    """A block is named by the way to it, and has as many tokens as its depth."""
    names = [hash(tuple(path[: depth + 1])) & 0xFFFFFFFF for depth in range(len(path))]
    ends, end = [], 0
    for depth in range(len(path)):
        end += depth + 1
        ends.append(end)
    return Chain(tuple(names), tuple(ends))


class Plain:
    """One list of blocks for each place, oldest first."""

    def __init__(self) -> None:
        self.lists: list[list[tuple[int, int, bool]]] = [[] for _ in range(PLACES)]
        self.limits = [float("inf")] * PLACES

    def apply(self, what: str, place: int, chain: Chain, number: int) -> int | None:
        held = self.lists[place]
        proven = None
        if what == "insert":
            proven = self.proven(place, chain)
            known = {block: (block, tokens, is_proven) for block, tokens, is_proven in held}
            starts = (0, *chain.ends)
            for block, start, end in reversed(list(zip(chain.hashes, starts, chain.ends, strict=False))):
                entry = known.get(block, (block, end - start, False))
                held[:] = [one for one in held if one[0] != block] + [entry]
        elif what == "prove":
            held[:] = [(block, tokens, was or block in chain.hashes) for block, tokens, was in held]
        elif what == "remove":
            held[:] = [one for one in held if one[0] not in chain.hashes]
        elif what == "forget":
            held.clear()
        elif what == "limit":
            self.limits[place] = number
        elif what == "trim":
            while sum(tokens for _, tokens, is_proven in held if is_proven) > number:
                held.pop(0)
        while len(held) > BLOCKS_MAX or sum(tokens for _, tokens, _ in held) > self.limits[place]:
            held.pop(0)
        return proven

    def proven(self, place: int, chain: Chain) -> int:
        sure = {block for block, _, is_proven in self.lists[place] if is_proven}
        return self.depth(sure, chain)

    def matches(self, chain: Chain) -> dict[int, int]:
        depths = {place: self.depth({one[0] for one in held}, chain) for place, held in enumerate(self.lists)}
        return {place: tokens for place, tokens in depths.items() if tokens}

    @staticmethod
    def depth(held: set[int], chain: Chain) -> int:
        reached = 0
        for block, end in zip(chain.hashes, chain.ends, strict=True):
            if block not in held:
                break
            reached = end
        return reached


@bounded
@given(steps, st.lists(paths, max_size=5))
def test_the_index_says_what_the_plain_lists_say(drawn: list[tuple[str, int, object]], asked: list[list[int]]) -> None:
    index, plain = PrefixIndex(BLOCKS_MAX), Plain()
    for what, place, detail in drawn:
        chain = chain_of_path(detail) if isinstance(detail, list) else Chain((), ())
        number = detail if isinstance(detail, int) else 0
        expected = plain.apply(what, place, chain, number)
        match what:
            case "insert":
                assert index.insert(place, chain) == expected
            case "prove":
                index.prove(place, chain)
            case "remove":
                index.remove(place, chain.hashes)
            case "forget":
                index.forget(place)
            case "limit":
                index.limit(place, number)
            case "trim":
                index.trim(place, number)
        assert index.matches(chain).by_place() == plain.matches(chain)
        assert index.entries == sum(len(held) for held in plain.lists)
        assert index.tokens(place) == sum(tokens for _, tokens, _ in plain.lists[place])
    for path in asked:
        assert index.matches(chain_of_path(path)).by_place() == plain.matches(chain_of_path(path))


@bounded
@given(
    st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=8), st.integers(0, 2000)), max_size=20),
    st.integers(1, 40),
)
def test_no_tenant_is_told_of_anothers_prompt_and_the_index_stays_bounded(
    prompts: list[tuple[int, bytes, int]], blocks_max: int
) -> None:
    index = PrefixIndex(blocks_max)
    for tenant, head, length in prompts:
        text = head + bytes(length)
        index.insert(tenant, chain_of(salt_of(b"tenant %d" % tenant), text, 0.25))  # each has a place of its own
        index.insert(tenant, chain_of_ids(salt_of(b"tenant %d" % tenant), list(text)))
        for asking in range(3):
            found = index.matches(chain_of(salt_of(b"tenant %d" % asking), text, 0.25))
            assert set(found.by_place()) <= {asking}
    assert index.entries <= 3 * blocks_max


@bounded
@given(st.binary(max_size=3000), st.binary(max_size=3000), st.binary(max_size=600))
def test_chains_are_equal_exactly_as_far_as_the_texts_are(head: bytes, one: bytes, other: bytes) -> None:
    first, second = chain_of(b"s", head + one, 1.0), chain_of(b"s", head + other, 1.0)
    for block, twin, end in zip(first.hashes, second.hashes, first.ends, strict=False):
        assert (block == twin) == ((head + one)[:end] == (head + other)[:end])
