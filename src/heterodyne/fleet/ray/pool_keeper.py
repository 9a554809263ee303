"""The actor that has the count of one pool: it starts and ends the pool's replicas, whichever gateway asks.

It travels to the cluster as text, so it needs nothing there but the standard library and Ray. As it answers one call
after the other, two gateways that scale at once cannot both be right. Where its node dies Ray starts it again: it finds
its replicas by their names, and its count is told by the first gateway that asks.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

VERSION = 1  # a keeper of an older gateway is replaced, one of a newer gateway is asked
HEAR_S = 0.2  # a call waits for its replicas
STOP_SLACK_S = 5.0
PAUSE_FIRST_S = 0.5  # before what has died is replaced
PAUSE_MAX_S = 10.0
STEADY_S = 30.0  # what lived this long is replaced at once

Spec = Mapping[str, Any]  # of a pool, as `RayPoolSpec` has it


class PoolKeeper:
    """One per pool and namespace."""

    def __init__(self, pool: str, replica_class: type) -> None:
        self._pool, self._replica_class = pool, replica_class
        self._wanted: int | None = None  # None: no gateway has told it yet
        self._pause_s, self._fills_at_s = 0.0, 0.0
        self._lost: list[str] = []  # what became of those that are not replaced yet
        self._replicas = {name.rpartition("/")[2]: _Replica(actor) for name, actor in _named(f"replica/{pool}/")}
        self._leaving: dict[str, _Replica] = {}

    def turn(self, spec: Spec, known: int | None) -> dict[str, Any]:
        """Look after the replicas, and say how they are. `known` is the count that the asking gateway saw last."""
        if self._wanted is None:
            self._wanted = known if known is not None else len(self._replicas) or spec["first"]
        self._hear()
        self._trim(())
        self._fill(spec)
        self._end_leaving(spec)
        return self._told()

    def scale(self, spec: Spec, count: int, seen: int, leaving: Sequence[str]) -> dict[str, Any]:
        """Have so many, unless somebody else has asked meanwhile: then the answer says how many those want."""
        if self._wanted is not None and self._wanted != seen:
            return {"conflict": self._wanted}
        self._wanted = count
        self._trim(leaving)
        self._fill(spec)
        self._end_leaving(spec)
        return self._told()

    def _hear(self) -> None:
        """Take what replicas have said; one that is not placed says nothing, and is not asked twice."""
        import ray  # noqa: PLC0415  # an extra

        for one in self._replicas.values():
            one.ask()
        asked = {one.asking: id for id, one in self._replicas.items()}
        said, _ = ray.wait(list(asked), num_returns=len(asked), timeout=HEAR_S) if asked else ([], [])
        for answer in said:
            one = self._replicas[asked[answer]]
            try:
                one.take(ray.get(answer))
            except ray.exceptions.ActorUnavailableError:
                one.asking = None  # it may be there yet: it is asked again
            except ray.exceptions.RayActorError as error:
                self._bury(asked[answer], str(error).partition("\n")[0])

    def _bury(self, id: str, why: str) -> None:
        dead = self._replicas.pop(id)
        self._lost.append(f"in place of {id}: {why}")
        steady = time.time() - dead.born_s > STEADY_S
        self._pause_s = 0.0 if steady else min(max(2 * self._pause_s, PAUSE_FIRST_S), PAUSE_MAX_S)
        self._fills_at_s = time.time() + self._pause_s

    def _fill(self, spec: Spec) -> None:
        import ray  # noqa: PLC0415  # an extra

        if time.time() < self._fills_at_s:
            return
        for _ in range((self._wanted or 0) - len(self._replicas)):
            id = f"{self._pool}-{secrets.token_hex(3)}"
            now_s = time.time()
            made = ray.remote(self._replica_class).options(
                name=f"replica/{self._pool}/{id}",
                lifetime="detached",
                max_restarts=0,  # what takes its place has another name
                max_concurrency=4,  # it answers while it stops its engine
                **spec["options"],
            )
            actor = made.remote(
                spec["words"],
                spec["health_path"],
                start_timeout_s=spec["start_timeout_s"],
                stop_timeout_s=spec["stop_timeout_s"],
                asked_at_s=now_s,
            )
            self._replicas[id] = _Replica(actor, instead=self._lost.pop(0) if self._lost else None)
        self._lost.clear()

    def _trim(self, leaving: Sequence[str]) -> None:
        """Those that were drained first, then those that are not ready, the youngest of them first."""
        order = sorted(
            self._replicas,
            key=lambda id: (id not in leaving, self._replicas[id].is_ready, -self._replicas[id].asked_at_s),
        )
        for id in order[: max(0, len(self._replicas) - (self._wanted or 0))]:
            one = self._leaving[id] = self._replicas.pop(id)
            one.leave()

    def _end_leaving(self, spec: Spec) -> None:
        for id, one in list(self._leaving.items()):
            if one.is_done(spec["stop_timeout_s"] + STOP_SLACK_S):
                one.end()
                del self._leaving[id]

    def _told(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "wanted": self._wanted,
            "replicas": [
                *(one.told(id, is_leaving=False) for id, one in self._replicas.items()),
                *(one.told(id, is_leaving=True) for id, one in self._leaving.items()),
            ],
        }


class _Replica:
    """One actor, and what it said last."""

    def __init__(self, actor: Any, instead: str | None = None) -> None:
        self.actor, self._instead = actor, instead
        self.asking: Any = None
        self.born_s = time.time()
        self._said: dict[str, Any] = {}  # empty: it has no node yet
        self._stopping: Any = None
        self._left_s = 0.0

    @property
    def asked_at_s(self) -> float:
        return float(self._said.get("asked_at_s", self.born_s))

    @property
    def is_ready(self) -> bool:
        return self._said.get("ready_at_s") is not None

    def ask(self) -> None:
        if self.asking is None:
            self.asking = self.actor.state.remote()

    def take(self, said: dict[str, Any]) -> None:
        self._said, self.asking = said, None

    def leave(self) -> None:
        self._left_s = time.time()
        self._stopping = self.actor.stop.remote() if self._said else None

    def is_done(self, within_s: float) -> bool:
        """Whether its engine has ended, or has had its time."""
        import ray  # noqa: PLC0415  # an extra

        if self._stopping is None or time.time() - self._left_s > within_s:
            return True
        return bool(ray.wait([self._stopping], timeout=0)[0])

    def end(self) -> None:
        import ray  # noqa: PLC0415  # an extra

        ray.kill(self.actor, no_restart=True)

    def told(self, id: str, *, is_leaving: bool) -> dict[str, Any]:
        stage = "draining" if is_leaving else "ready" if self.is_ready else "warming" if self._said else "pending"
        problem = None if self.is_ready else self._said.get("problem") or self._instead
        return {"asked_at_s": self.born_s, **self._said, "id": id, "stage": stage, "problem": problem}


def _named(prefix: str) -> list[tuple[str, Any]]:
    """The actors of this namespace whose names begin so."""
    import ray  # noqa: PLC0415  # an extra

    namespace = ray.get_runtime_context().namespace
    listed = ray.util.list_named_actors(all_namespaces=True)
    names = [one["name"] for one in listed if one["namespace"] == namespace and one["name"].startswith(prefix)]
    found = []
    for name in names:
        try:
            found.append((name, ray.get_actor(name, namespace=namespace)))
        except ValueError:
            continue  # it has just died
    return found
