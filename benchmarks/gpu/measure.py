"""The measurements: one replica at several loads, direct and through the gateway, and policies over several."""

import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import uvloop
from msgspec import structs

from benchmarks.gpu.card import watched
from benchmarks.gpu.gateway import Covered, Rules, calibrated, gateway
from benchmarks.gpu.replay import Reply, Target, closed_loop, open_loop
from benchmarks.gpu.replicas import Replica
from benchmarks.gpu.results import Forecasts, LoadRun, MixedReplica, MixRun, PolicyRun, Side
from benchmarks.gpu.trace import Ask, asks
from heterodyne.domain.record import RequestRecord

FIRST, LEARNED = 20, 100
WARM, WARM_AT_ONCE = 48, 16  # requests that nobody counts: engines capture graphs of every shape they meet first
Replies = tuple[list[Reply], list[str]]


class Bench:
    """One run: whom it measures, and what went wrong on the way."""

    def __init__(self, replicas: Sequence[Replica], rules: Rules, folder: Path, words: int) -> None:
        self.replicas = replicas
        self.rules = rules
        self.folder = folder
        self.words = words
        self.seen: list[str] = []
        self._replays = 0

    def warm_up(self) -> None:
        """Each replica's first requests."""
        made = asks(WARM, seed=99)
        for one in self.replicas:
            self._replayed(partial(closed_loop, self._direct(one), made, WARM_AT_ONCE))

    def load(self, at_once: int, requests: int) -> LoadRun:
        """The first replica with so many at once, alone and behind a gateway that has seen nothing yet.

        The first time does not count: its shapes are new to the engine.
        """
        made = asks(requests, seed=at_once)
        self._replayed(lambda: closed_loop(self._direct(self.replicas[0]), made, at_once))
        direct = self._replayed(lambda: closed_loop(self._direct(self.replicas[0]), made, at_once))
        through, records = self._through(made, at_once, self.rules)
        added_ms = [one.overhead_ms + (one.connect_ms or 0.0) for one in records]
        return LoadRun(
            at_once=at_once,
            direct=direct,
            through=through,
            added_p50_ms=median(added_ms),
            added_p99_ms=_at(added_ms, 99),
            first=_forecasts(records[:FIRST]),
            later=_forecasts(records[min(LEARNED, len(records) // 2) :]),
        )

    def calibrated_loads(
        self, runs: Sequence[LoadRun], requests: Mapping[int, int], budget_s: float
    ) -> tuple[list[LoadRun], str]:
        """The same loads behind gateways that read what a calibration found."""
        profiles = self.folder / "profiles.toml"
        with gateway(self.replicas[:1], self.rules, self.folder / "calibrating") as before:
            said = calibrated(before.url, self.rules, profiles, budget_s=budget_s)
        if not profiles.exists():
            return list(runs), said
        rules, done = structs.replace(self.rules, profiles=profiles), []
        for run in runs:
            _, records = self._through(asks(requests[run.at_once], seed=run.at_once), run.at_once, rules)
            done.append(structs.replace(run, calibrated=_forecasts(records[:FIRST])))
        return done, said

    def alone(self, at_once: int, requests: int) -> list[Side]:
        """Each replica with so many at once."""
        made = asks(requests, seed=at_once)
        return [self._replayed(partial(closed_loop, self._direct(one), made, at_once)) for one in self.replicas]

    def mix(self, share: float, requests: int, per_s: float) -> MixRun:
        """All replicas behind one name that has seen nothing yet: a hundred to learn from, and as many as count."""
        began, counted = (asks(count, seed=count, per_s=per_s) for count in (LEARNED, requests))
        with gateway(self.replicas, self.rules, self._folder()) as running:
            self._replayed(partial(open_loop, self._gateway(running.url), began))
            before = running.covered()
            side = self._replayed(partial(open_loop, self._gateway(running.url), counted))
            after = running.covered()
            records = running.end()[-side.asked :]
        added_ms = [one.overhead_ms + (one.connect_ms or 0.0) for one in records]
        return MixRun(
            share=share,
            per_s=per_s,
            side=side,
            added_p50_ms=median(added_ms),
            added_p99_ms=_at(added_ms, 99),
            replicas=[
                MixedReplica(
                    replica=one.name,
                    forecasts=_forecasts([record for record in records if record.pool == one.name]),
                    ttft_covered=_covered(one.name, "ttft", before, after),
                    itl_covered=_covered(one.name, "itl", before, after),
                )
                for one in self.replicas
            ],
        )

    def policy(self, policy: str, made: Sequence[Ask], slo: tuple[float, float]) -> PolicyRun:
        """All replicas behind one name, each request at its moment."""
        rules = structs.replace(self.rules, policy=policy, slo_ttft_ms=slo[0], slo_itl_ms=slo[1])
        replies: list[Reply] = []

        async def replay(target: Target) -> Replies:
            found = await open_loop(target, made)
            replies.extend(found[0])
            return found

        with gateway(self.replicas, rules, self._folder()) as running:
            side = self._replayed(lambda: replay(self._gateway(running.url)))
            records = running.end()
        kept = sum(one.ttft_s * 1000 <= slo[0] and one.itl_s * 1000 <= slo[1] for one in replies)
        return PolicyRun(
            policy=policy, kept=kept / len(made), side=side, by_replica=dict(Counter(one.pool for one in records))
        )

    def _through(self, made: Sequence[Ask], at_once: int, rules: Rules) -> tuple[Side, list[RequestRecord]]:
        with gateway(self.replicas[:1], rules, self._folder()) as running:
            side = self._replayed(lambda: closed_loop(self._gateway(running.url), made, at_once))
            records = running.end()
        return side, records

    def _replayed(self, replay: Callable[[], Coroutine[Any, Any, Replies]]) -> Side:
        self._replays += 1
        began_s = time.perf_counter()
        with watched() as use:
            replies, failures = uvloop.run(replay())
        took_s = time.perf_counter() - began_s
        self.seen += failures[:2]
        if not replies:
            raise SystemExit(f"nothing was answered: {failures[:3]}")
        made = sum(one.tokens for one in replies)
        ttft_ms, itl_ms = [1000 * one.ttft_s for one in replies], [1000 * one.itl_s for one in replies]
        return Side(
            asked=len(replies) + len(failures),
            failed=len(failures),
            ttft_p50_ms=median(ttft_ms),
            ttft_p99_ms=_at(ttft_ms, 99),
            itl_p50_ms=median(itl_ms),
            itl_p99_ms=_at(itl_ms, 99),
            tokens_per_s=made / took_s,
            busy_share=use.busy_share,
            joules_per_token=None if use.joules is None else use.joules / made,
        )

    def _direct(self, replica: Replica) -> Target:
        return Target(url=replica.url, model=str(replica.folder), words=self.words, seed=self._replays)

    def _gateway(self, url: str) -> Target:
        return Target(url=url, model=self.rules.model, words=self.words, seed=self._replays)

    def _folder(self) -> Path:
        return self.folder / f"gateway-{self._replays}"


def _forecasts(records: Sequence[RequestRecord]) -> Forecasts:
    """Of those that were whole; an error of 1 where there is nothing to compare."""
    ttft = [_off(one.predicted_ttft_ms, one.ttft_ms) for one in records if one.ttft_ms]
    itl = [_off(one.predicted_itl_ms, one.itl_ms) for one in records if one.itl_ms]
    return Forecasts(
        requests=len(records), ttft_error=median(ttft) if ttft else 1.0, itl_error=median(itl) if itl else 1.0
    )


def _covered(pool: str, what: str, before: Covered, after: Covered) -> float | None:
    within, outside = (
        after.get((pool, what, outcome), 0) - before.get((pool, what, outcome), 0) for outcome in ("within", "outside")
    )
    return within / (within + outside) if within + outside else None


def _off(said: float | None, was: float | None) -> float:
    return abs(said / was - 1) if said and was else 1.0


def _at(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
