"""Stands in for the process that speaks with a Ray cluster: how it answers is its cluster's address."""

import sys
import time

import msgspec

from heterodyne.fleet.ray.messages import RayAnswer, RayCall, RayOrder, RayPoolState, RayReplica


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=RayOrder)
    if "refuses" in order.address:
        say(RayAnswer(error="Version mismatch: the cluster has Ray 2.50.0"))
        return
    say(RayAnswer())
    wanted = 1
    for line in sys.stdin.buffer:
        if "silent" in order.address:
            time.sleep(60)
        if "dies" in order.address:
            return
        call = msgspec.json.decode(line, type=RayCall)
        if call.asked is not None and call.asked.seen != wanted:
            say(RayAnswer(pools={call.asked.pool: RayPoolState(conflict=wanted)}))
            continue
        if call.asked is not None:
            wanted = call.asked.count
        replicas = tuple(RayReplica(id=f"r{n}", stage="pending", asked_at_s=1.0) for n in range(wanted))
        say(RayAnswer(pools={pool: RayPoolState(wanted=wanted, replicas=replicas) for pool in call.pools}))


def say(answer: RayAnswer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
