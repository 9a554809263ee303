"""Fairness and warm prefixes together, on a replica that remembers a quarter of the prefixes it is sent."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from random import Random

from heterodyne.admission.queue.dlpm import Dlpm
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.order import QueueOrder
from heterodyne.admission.queue.vtc import Vtc
from heterodyne.admission.queue.waiting import StartVerdict, Waiting

TENANTS = 12
DOCUMENTS = 2  # of each tenant; requests ask about one of them
REQUESTS = 120  # of each tenant, all there from the beginning
OWN_TOKENS = 200  # of a prompt, after its document
OUTPUT_TOKENS = 100
CACHE_TOKENS = 12_000
QUANTUM = 20_000.0


class PrefixCache:
    """The documents a replica was sent last."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, int] = OrderedDict()

    def cached(self, document: str) -> int:
        return self._tokens.get(document, 0)

    def send(self, document: str, tokens: int) -> int:
        """How much of it was still there."""
        found = self._tokens.pop(document, 0)
        self._tokens[document] = tokens
        while sum(self._tokens.values()) > CACHE_TOKENS:
            self._tokens.popitem(last=False)
        return found


class Question:
    def __init__(self, tenant: int, document: int, tokens: int) -> None:
        self.tenant = tenant
        self.document = f"{tenant}/{document}"
        self.tokens = tokens


def questions() -> list[Question]:
    chance = Random(6)
    tokens = {
        (tenant, document): chance.randint(1000, 3000) for tenant in range(TENANTS) for document in range(DOCUMENTS)
    }
    asked = [
        Question(tenant, document, tokens[tenant, document])
        for tenant in range(TENANTS)
        for document in (chance.randrange(DOCUMENTS) for _ in range(REQUESTS))
    ]
    chance.shuffle(asked)
    return asked


def by_longest_prefix(cache: PrefixCache) -> Iterator[Question]:
    """Whoever has the longest cached prefix of all, fair or not."""
    left = questions()
    while left:
        best = max(range(len(left)), key=lambda index: cache.cached(left[index].document))
        yield left.pop(best)


class Run:
    """What became of all questions in one order."""

    def __init__(self, cache: PrefixCache) -> None:
        self.cache = cache
        self.hit_tokens = 0
        self.gap = 0.0  # the most that two tenants' services differed by while all had something waiting
        self._had = [0.0] * TENANTS
        self._left = [REQUESTS] * TENANTS

    def answer(self, question: Question) -> float:
        """Its service: prompt tokens computed, and twice the output."""
        found = self.cache.send(question.document, question.tokens)
        self.hit_tokens += found
        service = float(question.tokens - found + OWN_TOKENS + 2 * OUTPUT_TOKENS)
        self._left[question.tenant] -= 1
        if min(self._left) > 0:
            self._had[question.tenant] += service
            self.gap = max(self.gap, max(self._had) - min(self._had))
        return service


def run_fairly(order: Callable[[], QueueOrder]) -> Run:
    run = Run(PrefixCache())
    queue = FairQueue("m", queue_max=10_000, tenant_queue_max=10_000, order=order)
    for question in questions():
        queue.push(waiting(question, run.cache), 0.0)
    while (taken := queue.try_take(lambda _: StartVerdict.YES, 0.0)) is not None:
        assert isinstance(taken.handle, Question)
        queue.end(taken, run.answer(taken.handle))
    return run


def waiting(question: Question, cache: PrefixCache) -> Waiting:
    return Waiting(
        tenant=str(question.tenant),
        service=float(question.tokens + OWN_TOKENS + 2 * OUTPUT_TOKENS),
        cached_tokens=lambda: cache.cached(question.document),
        handle=question,
    )


def test_the_prefix_aware_order_keeps_nine_tenths_of_the_hits_and_stays_fair() -> None:
    greedy = Run(PrefixCache())
    for question in by_longest_prefix(greedy.cache):
        greedy.answer(question)
    fair = run_fairly(Vtc)
    both = run_fairly(lambda: Dlpm(quantum=QUANTUM))
    largest = 3000 + OWN_TOKENS + 2 * OUTPUT_TOKENS
    assert both.hit_tokens > 0.9 * greedy.hit_tokens
    assert fair.hit_tokens < 0.5 * greedy.hit_tokens
    assert fair.gap <= 2 * largest
    assert both.gap <= 2 * QUANTUM + 2 * largest
