"""Traffic handed out to replicas, as rows of the MILP: all of it served, no kind beyond what it can.

A bucket's prompts and its answers are two pieces of work. A replica of both roles does the two together, so the shares
of such replicas stand in both sums; prefill replicas stand in the first alone and decode replicas in the second. Keys
and values only pass between replicas that understand each other, so those sums are equal for every word of `handoff`.
"""

from collections.abc import Iterable, Iterator

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.milp import Milp, Row
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.mix.single_kind import can_serve

Counts = dict[str, int]  # kind: column of its number of replicas
Shares = dict[tuple[str, str], int]  # bucket and kind: column of the share


def assign(
    milp: Milp,
    problem: MixProblem,
    buckets: tuple[TrafficBucket, ...],
    counts: Counts,
    *,
    usable: float,  # share of a replica that may be busy
    lost: tuple[str, int] | None = None,  # a kind, and the column that says whether it loses one
) -> Shares:
    """Every bucket is served in full, and no kind does more than its replicas can."""
    shares: Shares = {}
    for bucket in buckets:
        able = [kind for kind in problem.kinds if can_serve(kind, bucket)]
        shares |= {(bucket.name, kind.name): milp.continuous(0.0, 0.0, 1.0) for kind in able}
        for phase in _phases(able):
            milp.exactly({shares[bucket.name, kind.name]: 1.0 for kind in phase}, 1.0)
            spot = {shares[bucket.name, kind.name]: 1.0 for kind in phase if kind.is_spot}
            if spot and problem.spot_share_max < 1.0:
                milp.at_most(spot, problem.spot_share_max)
        for row in _handoffs(able, bucket, shares):
            milp.exactly(row, 0.0)
    for kind in problem.kinds:
        row = {
            shares[bucket.name, kind.name]: bucket.requests_per_s / kind.requests_per_s[bucket.name]
            for bucket in buckets
            if can_serve(kind, bucket)
        }
        if row:
            row[counts[kind.name]] = -usable
            if lost is not None and lost[0] == kind.name:
                row[lost[1]] = usable
            milp.at_most(row, 0.0)
    return shares


def draw_on_stocks(milp: Milp, problem: MixProblem, counts: Counts) -> None:
    """Kinds of one stock together take no more chips than it has, and no fewer than are paid for.

    Spares for what is taken back stand in as so many more as there are on average.
    """
    for stock in problem.stocks:
        row = {
            counts[kind.name]: kind.chips / (1.0 - kind.missing_share)
            for kind in problem.kinds
            if kind.stock == stock.name
        }
        if stock.available is not None:
            milp.at_most(row, float(stock.available))
        if stock.minimum:
            milp.at_most({column: -chips for column, chips in row.items()}, -float(stock.minimum))


def is_served(able: Iterable[ReplicaKind]) -> bool:
    """Whether these kinds together do prompts and answers."""
    roles = {(kind.role, kind.handoff) for kind in able}
    return any(
        role is ReplicaRole.BOTH or (ReplicaRole.DECODE, word) in roles
        for role, word in roles
        if role is not ReplicaRole.DECODE
    )


def _phases(able: list[ReplicaKind]) -> list[list[ReplicaKind]]:
    """The kinds that can do the prompts and those for the answers; one list where none does only one of them."""
    prompts = [kind for kind in able if kind.role is not ReplicaRole.DECODE]
    answers = [kind for kind in able if kind.role is not ReplicaRole.PREFILL]
    return [prompts] if prompts == answers else [prompts, answers]


def _handoffs(able: list[ReplicaKind], bucket: TrafficBucket, shares: Shares) -> Iterator[Row]:
    """Prompts computed less answers given, by word; with one word the two sums to 1 say it already."""
    apart = [kind for kind in able if kind.role is not ReplicaRole.BOTH]
    words = sorted({kind.handoff for kind in apart})
    for word in words if len(words) > 1 else ():
        yield {
            shares[bucket.name, kind.name]: 1.0 if kind.role is ReplicaRole.PREFILL else -1.0
            for kind in apart
            if kind.handoff == word
        }
