"""What watching costs: a request in a worker's thread, a sign in the supervisor, and the memory of what is known."""

import random
import tracemalloc
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from benchmarks.abuse.prompts import HASHER
from benchmarks.safety.cost import microseconds
from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.asked import signs_of
from heterodyne.safety.abuse.cost_anomaly import CostAnomaly
from heterodyne.safety.abuse.detector import AbuseDetector
from heterodyne.safety.abuse.minhash import SIGNATURE_BYTES
from heterodyne.safety.abuse.policy import AbusePolicies
from heterodyne.safety.abuse.prompt_clusters import CLUSTERS_MAX, PromptClusters
from heterodyne.safety.abuse.settings import AbuseSettings

KEYS = 10_000
ALL = {
    "similar": AbuseSettings(watch="similar_prompts"),
    "extraction": AbuseSettings(watch="extraction"),
    "cost": AbuseSettings(watch="cost"),
}
ABOUT = AbuseSign("k", "a/b", "m", "m", 0.0, 0.01)


class Costs(NamedTuple):
    """Microseconds of processor time, and mebibytes."""

    choose_us: float  # whether a policy looks at a request, in the worker's loop
    read_us: dict[str, float]  # reading a body and signing its prompt, in the worker's thread
    judge_us: float  # all three watches over one sign, in the supervisor
    clusters_mib: float
    spending_mib: float


def measured(texts: Sequence[str]) -> Costs:
    """Of prompts that people have asked."""
    policies = AbusePolicies(ALL)
    choose = microseconds(lambda: policies.watched("a/b", "m", "m"), times=20_000)
    sample = random.Random(5).sample(list(texts), 300)
    typical = sorted(sample, key=len)[len(sample) // 2]
    read = {
        f"the median prompt ({len(typical)} characters)": _read_us([typical]),
        "the mean over prompts": _read_us(sample),
        "100,000 characters": _read_us([" ".join(sample)[:100_000]]),
    }
    return Costs(choose, read, _judge_us(sample), _clusters_mib(), _spending_mib())


def _read_us(texts: Sequence[str]) -> float:
    bodies = [msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]}) for text in texts]

    def read() -> None:
        for body in bodies:
            signs_of(ABOUT, body, hasher=HASHER, verbatim=True)

    return microseconds(read, times=max(1, 300 // len(bodies))) / len(bodies)


def _judge_us(texts: Sequence[str]) -> float:
    rng, signs = random.Random(6), []
    for number, text in enumerate(texts * 10):
        body = msgspec.json.encode({"messages": [{"role": "user", "content": f"{text} {rng.random()}"}]})
        about = AbuseSign(f"k{rng.randrange(100)}", "a/b", "m", "m", number / 10, 0.01)
        signs += signs_of(about, body, hasher=HASHER, verbatim=True)
    message = msgspec.msgpack.encode(signs)
    decode = msgspec.msgpack.Decoder(list[AbuseSign]).decode

    def judge() -> None:
        detector = AbuseDetector(ALL)
        for sign in decode(message):
            detector.observe(sign)

    return microseconds(judge, times=1) / len(signs)


def _clusters_mib() -> float:
    """As many groups as are known at most, of one policy."""
    rng = random.Random(8)
    tracemalloc.start()
    clusters = PromptClusters(0.4, 3600.0)
    for number in range(CLUSTERS_MAX):
        clusters.add(rng.randbytes(SIGNATURE_BYTES), f"k{number}", "a/b", 0.0)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / (1 << 20)


def _spending_mib() -> float:
    """As many keys as are known at most."""
    tracemalloc.start()
    watch = CostAnomaly("one", ALL["cost"])
    for number in range(KEYS):
        watch.observe(AbuseSign(f"k{number}", "a/b", "m", "m", 0.0, 0.01))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / (1 << 20)
