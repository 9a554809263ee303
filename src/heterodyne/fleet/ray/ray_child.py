"""The process beside the supervisor that speaks with a Ray cluster: Ray's calls wait, start threads, and may end the
process they are made in.

Run as `python -m heterodyne.fleet.ray.ray_child`. It reads a RayOrder and then RayCalls on its standard input, answers
each with one line, and ends with its input.
"""

import os
import queue
import sys
import threading
from typing import Any

import msgspec
import ray

from heterodyne.fleet.child_answer import claim_stdout
from heterodyne.fleet.ray import pool_keeper, replica_actor
from heterodyne.fleet.ray.messages import RayAnswer, RayCall, RayNode, RayOrder, RayPoolState

ERROR_CHARS_MAX = 500


def main() -> None:
    """Serve one order, then calls, until the input ends."""
    answer = claim_stdout()
    lines: queue.Queue[bytes] = queue.Queue(maxsize=1)
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    order = msgspec.json.decode(lines.get(), type=RayOrder)
    try:
        _connect(order)
    except Exception as error:  # noqa: BLE001  # whatever Ray raises is what the operator has to see
        _write(answer, RayAnswer(error=_said(error)))
        os._exit(1)
    _write(answer, RayAnswer())
    cluster = _Cluster(order.namespace)
    while True:
        call = msgspec.json.decode(lines.get(), type=RayCall)
        try:
            said = cluster.answer(call)
        except Exception as error:  # noqa: BLE001  # the same
            said = RayAnswer(error=_said(error))
        _write(answer, said)


class _Cluster:
    """The keepers of this namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._keepers: dict[str, Any] = {}
        self._turns: dict[str, Any] = {}  # what keepers were asked and have not answered: they are not asked twice

    def answer(self, call: RayCall) -> RayAnswer:
        pools: dict[str, RayPoolState] = {}
        if call.asked is not None:
            asked = call.asked
            spec = msgspec.to_builtins(call.pools[asked.pool])
            scaled = self._keeper(asked.pool).scale.remote(spec, asked.count, asked.seen, list(asked.leaving))
            pools[asked.pool] = self._took(asked.pool, scaled, call.timeout_s)
        left = [pool for pool in call.pools if pool not in pools]
        for pool in left:
            if pool not in self._turns:
                spec = msgspec.to_builtins(call.pools[pool])
                self._turns[pool] = self._keeper(pool).turn.remote(spec, call.known.get(pool))
        turns = [self._turns[pool] for pool in left]
        said = ray.wait(turns, num_returns=len(turns), timeout=call.timeout_s)[0] if turns else []
        for pool in left:
            if self._turns[pool] in said:
                pools[pool] = self._took(pool, self._turns.pop(pool), 0.0)
            else:
                pools[pool] = RayPoolState(error=f"no answer within {call.timeout_s:.0f} s; it may not be placed yet")
        return RayAnswer(pools=pools, nodes=tuple(msgspec.convert(ray.nodes(), list[RayNode])))

    def _took(self, pool: str, asked: Any, timeout_s: float) -> RayPoolState:
        try:
            state = msgspec.convert(ray.get(asked, timeout=timeout_s), RayPoolState)
        except ray.exceptions.GetTimeoutError:
            return RayPoolState(error=f"no answer within {timeout_s:.0f} s")
        except ray.exceptions.RayError as error:
            self._keepers.pop(pool, None)
            return RayPoolState(error=_said(error))
        if state.conflict is None and state.version < pool_keeper.VERSION:
            ray.kill(self._keepers.pop(pool), no_restart=True)
            return RayPoolState(error="it was made by an older gateway, and is made anew")
        return state

    def _keeper(self, pool: str) -> Any:
        """Found by its name, or made."""
        if pool not in self._keepers:
            made = ray.remote(pool_keeper.PoolKeeper).options(
                name=f"keeper/{pool}",
                namespace=self._namespace,
                lifetime="detached",
                get_if_exists=True,
                max_restarts=-1,
                num_cpus=0,
            )
            self._keepers[pool] = made.remote(pool, replica_actor.ReplicaActor)
        return self._keepers[pool]


def _connect(order: RayOrder) -> None:
    for module in (pool_keeper, replica_actor):
        ray.cloudpickle.register_pickle_by_value(module)  # the cluster need not have this package
    ray.init(order.address, namespace=order.namespace, log_to_driver=False)


def _read(lines: "queue.Queue[bytes]") -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)  # the parent is gone, or wants that; Ray's calls cannot be interrupted


def _write(answer: int, said: RayAnswer) -> None:
    os.write(answer, msgspec.json.encode(said) + b"\n")


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:ERROR_CHARS_MAX]


if __name__ == "__main__":
    main()
