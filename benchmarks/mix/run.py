"""`make bench-mix`: how long the cheapest mix of twelve kinds for a hundred buckets takes to find."""

import random
import statistics
import time

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, TrafficBucket

KINDS, BUCKETS, SEEDS, LIMIT_S = 12, 100, 5, 2.0


def main() -> None:
    """Print the times with and without a spare for critical load, and with prompts and answers apart."""
    print(f"{KINDS} kinds, {BUCKETS} buckets, {SEEDS} problems, seconds of processor time")
    print(f"the target is {LIMIT_S:g} s where replicas do both")
    cases = {
        "without spare": (False, (ReplicaRole.BOTH,)),
        "with a spare for critical load": (True, (ReplicaRole.BOTH,)),
        "prefill and decode apart": (False, tuple(ReplicaRole)),
        "apart, with a spare": (True, tuple(ReplicaRole)),
    }
    for word, (survives, roles) in cases.items():
        times = [_solve_s(problem(seed, survives_one_loss=survives, roles=roles)) for seed in range(SEEDS)]
        print(f"  {word:32} median {statistics.median(times):.2f} s, longest {max(times):.2f} s")


def problem(
    seed: int, *, survives_one_loss: bool = False, roles: tuple[ReplicaRole, ...] = (ReplicaRole.BOTH,)
) -> MixProblem:
    """One of chance."""
    chance = random.Random(seed)
    buckets = tuple(
        TrafficBucket(name=f"bucket {index}", requests_per_s=chance.uniform(0.1, 20.0), is_critical=index % 4 == 0)
        for index in range(BUCKETS)
    )
    kinds = tuple(_kind(index, buckets, chance, role=roles[index % len(roles)]) for index in range(KINDS))
    return MixProblem(buckets=buckets, kinds=kinds, survives_one_loss=survives_one_loss)


def _solve_s(question: MixProblem) -> float:
    began_s = time.process_time()
    cheapest_mix(question)
    return time.process_time() - began_s


def _kind(index: int, buckets: tuple[TrafficBucket, ...], chance: random.Random, *, role: ReplicaRole) -> ReplicaKind:
    """Dearer kinds are faster, on the whole, and so are those with one role; a tenth of the buckets is beyond each."""
    speed = chance.uniform(0.5, 20.0)
    ease = 1.0 if role is ReplicaRole.BOTH else 2.2
    return ReplicaKind(
        name=f"kind {index}",
        usd_per_hour=speed * chance.uniform(0.7, 1.4),
        requests_per_s={
            bucket.name: ease * speed * chance.uniform(0.5, 2.0)
            for bucket in buckets
            if index == 0 or chance.random() > 0.1
        },
        available=chance.choice([None, 20, 50]) if index else None,
        role=role,
    )


if __name__ == "__main__":
    main()
