"""Ways to lay out so many chips: replicas that do all of a request, or two roles, each with the width that suits it."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs

from benchmarks.kv.fleets import KvNetwork, Shape, Way
from benchmarks.kv.roles import at_widths, rates_of
from benchmarks.kv.splits import MIXED, Question, near
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.planning.hardware.candidate import try_replica

CHUNKED, STOPPING, SPLIT = "all do both, prompts in chunks", "all do both, answers stop for prompts", "two roles"
PAIRS = 4  # of widths, the best by the plan, that are simulated at several ratios
Rates = Mapping[int, Mapping[ReplicaRole, float]]  # of one replica, by width


class ChipLayout(Struct, frozen=True, kw_only=True):
    """One of them."""

    kind: str
    words: str
    question: Question
    way: Way
    planned_requests_per_s: float

    @property
    def is_one_width(self) -> bool:
        """Whether all replicas are as wide."""
        return self.way.prefill_tp == self.way.decode_tp


def layouts(question: Question, network: KvNetwork) -> list[ChipLayout]:
    """Every width of replicas that do both; of roles the best pairs of widths, and those of one width."""
    rates = {
        one.tp: rates_of(one, question.lengths, question.slo, network)
        for one in at_widths(question.shape.model, question.shape.chip, question.shape.precision)
        if one.tp <= question.shape.chips and try_replica(one, question.lengths) is not None
    }
    return [*_mixed(question, rates), *_splits(question, rates)]


def _mixed(question: Question, rates: Rates) -> Iterator[ChipLayout]:
    for tp, by_role in rates.items():
        shape = structs.replace(question.shape, tp=tp, replicas=question.shape.chips // tp)
        for kind, mixes_prompts in ((CHUNKED, True), (STOPPING, False)):
            yield ChipLayout(
                kind=kind,
                words=f"{shape.replicas} x {tp}",
                question=structs.replace(question, shape=structs.replace(shape, mixes_prompts=mixes_prompts)),
                way=MIXED,
                planned_requests_per_s=shape.replicas * by_role[ReplicaRole.BOTH],
            )


def _splits(question: Question, rates: Rates) -> Iterator[ChipLayout]:
    pairs = [(one, other) for one in rates for other in rates if one + other <= question.shape.chips]
    best = {pair: max(_ratios(question.shape, pair), key=lambda way: _together(way, rates)) for pair in pairs}
    ranked = sorted(pairs, key=lambda pair: _together(best[pair], rates), reverse=True)
    for pair in dict.fromkeys((*ranked[:PAIRS], *(pair for pair in ranked if pair[0] == pair[1]))):
        counts = near(best[pair].prefilling, question.shape.chips)
        for way in _ratios(question.shape, pair):
            planned = _together(way, rates)
            if way.prefilling in counts and planned > 0.0:
                yield ChipLayout(
                    kind=SPLIT,
                    words=f"{way.prefilling} x {pair[0]} : {way.answering} x {pair[1]}",
                    question=question,
                    way=way,
                    planned_requests_per_s=planned,
                )


def _ratios(shape: Shape, pair: tuple[int, int]) -> list[Way]:
    """As many replicas that answer as there are chips left."""
    prefill_tp, decode_tp = pair
    return [
        Way(
            name="split",
            kv=KvStrategy.SPLIT,
            prefilling=count,
            answering=(shape.chips - count * prefill_tp) // decode_tp,
            prefill_tp=prefill_tp,
            decode_tp=decode_tp,
        )
        for count in range(1, (shape.chips - decode_tp) // prefill_tp + 1)
    ]


def _together(way: Way, rates: Rates) -> float:
    prefill_tp, decode_tp, answering = way.prefill_tp or 1, way.decode_tp or 1, way.answering or 0
    return min(
        way.prefilling * rates[prefill_tp][ReplicaRole.PREFILL], answering * rates[decode_tp][ReplicaRole.DECODE]
    )
