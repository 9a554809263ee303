"""Rollouts are carried out from what is saved alone, and by several gateways together."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.console.errors import ChangeRefused
from heterodyne.control.replica_seen import FleetSeen, ReplicaSeen
from heterodyne.domain.errors import UnknownName
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.arms_seen import ArmsSeen
from heterodyne.rollout.evidence import Evidence, MetricSums
from heterodyne.rollout.golden import GoldenQuestion, GoldenSet, golden_verdict
from heterodyne.rollout.machine import Rollout, RolloutStatus, aborted, paused, promoted
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.stores.open_store import rollouts_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.supervisor.rollouts.keeper import LOST_S, READY_WITHIN_S, RolloutFleet, RolloutKeeper, splits_of
from heterodyne.supervisor.workers.view import WorkerView
from heterodyne.telemetry import metrics

MODEL = "chat"


def replica(id: str) -> Replica:
    return Replica(id=ReplicaId(id), pool=PoolName(id[:-2]), model=MODEL, engine="vllm", host="h", port=1)


def seen_replica(id: str, health: Health) -> ReplicaSeen:
    return ReplicaSeen(
        id=ReplicaId(id),
        pool=PoolName(id[:-2]),
        model=MODEL,
        engine="vllm",
        url="",
        health=health,
        health_for_s=1.0,
        is_draining=False,
        looked_ago_s=None,
        probe_ms=None,
        error=None,
        context_tokens=None,
        adapters=(),
        serves=(),
        load=None,
        load_age_s=None,
        restarts=0,
        problems=(),
    )


def sums(count: int, errors: int = 0) -> Evidence:
    return Evidence(requests=count, sums={"errors": MetricSums(count, float(errors), float(errors))})


class World:
    """One gateway's fleet and clock, as a test would have them."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.ready = {"old-0": True, "new-0": True}
        self.arms: dict[str, ArmsSeen] = {}
        self.pid = 1
        self.told: list[Mapping[str, RolloutSplit]] = []
        self.smoke: str | None = None
        self.answers: list[str] = []
        self.parity: str | None = None

    def views(self) -> Sequence[WorkerView]:
        replicas = tuple(
            seen_replica(id, Health.READY if is_ready else Health.DOWN) for id, is_ready in self.ready.items()
        )
        return [
            WorkerView(
                name="worker-0",
                pid=self.pid,
                version=1,
                at_s=0.0,
                fleet=FleetSeen(version=1, interval_s=1.0, replicas=replicas),
                health=FleetHealthSnapshot(models=(), replicas=(), ejections_refused={}),
                in_flight=0,
                in_flight_by_replica={},
                rollouts=self.arms,
            )
        ]

    async def golden_answers(self, _: Replica, golden: GoldenSet) -> tuple[bool, str]:
        return golden_verdict(golden, self.answers)

    async def smoke_problem(self, _: Replica) -> str | None:
        return self.smoke

    async def parity_problem(self, _: Sequence[str]) -> str | None:
        return self.parity

    def fleet(self) -> RolloutFleet:
        return RolloutFleet(
            replicas=lambda: [replica(id) for id in self.ready],
            views=self.views,
            publish=self.told.append,
            smoke_problem=self.smoke_problem,
            golden_answers=self.golden_answers,
            parity_problem=self.parity_problem,
        )

    @property
    def share(self) -> float:
        return self.told[-1][MODEL].share


@asynccontextmanager
async def keeping(folder: Path, *worlds: World) -> AsyncIterator[list[RolloutKeeper]]:
    """Gateways over one database."""
    database = await SqliteDatabase.open(folder / "h.sqlite")
    try:
        yield [
            RolloutKeeper(rollouts_in(database), world.fleet(), clock=lambda world=world: world.now) for world in worlds
        ]
    finally:
        await database.close()


async def latest(keeper: RolloutKeeper) -> Rollout:
    (rollout,) = await keeper.history(None)
    return rollout


async def in_canary(keeper: RolloutKeeper, world: World) -> Rollout:
    await keeper.start(MODEL, ["new"], "me")
    for _ in range(2):
        await keeper.tick()
    assert world.share == 0.01
    return await latest(keeper)


async def test_the_candidate_gets_nobody_before_it_answers_and_may_serve(tmp_path: Path) -> None:
    world = World()
    async with keeping(tmp_path, world) as (keeper,):
        await keeper.start(MODEL, ["new"], "me")
        assert world.share == 0.0
        await keeper.tick()
        assert (await latest(keeper)).stage.name == "parity"
        world.parity = "chat@v2 gguf q8_0 does not serve: KL 0.3"
        await keeper.tick()
        rollout = await latest(keeper)
        assert (rollout.status, rollout.steps[-1].why) == (RolloutStatus.ROLLED_BACK, world.parity)
        assert world.share == 0.0


@pytest.mark.parametrize(("answers", "stage"), [(["Paris.", "It is FOUR"], "parity"), (["Paris", "five"], "golden")])
async def test_questions_with_known_answers_come_before_everything_but_the_smoke(
    tmp_path: Path, answers: list[str], stage: str
) -> None:
    golden = GoldenSet(
        questions=(
            GoldenQuestion(prompt="The capital of France?", expects=("paris",)),
            GoldenQuestion(prompt="2 + 2?", expects=("4", "four")),
        )
    )
    world = World()
    world.answers = answers
    async with keeping(tmp_path, world) as (keeper,):
        await keeper.start(MODEL, ["new"], "me", golden=golden)
        for _ in range(2):
            await keeper.tick()
        rollout = await latest(keeper)
        assert rollout.stage.name == stage
        if stage == "golden":
            assert rollout.status is RolloutStatus.ROLLED_BACK
            assert rollout.steps[-1].why == "1 of 2 golden answers are right; wrong: 2 + 2?"
        else:
            assert "2 of 2 golden answers are right" in [step.why for step in rollout.steps]


async def test_what_workers_see_is_added_up_once(tmp_path: Path) -> None:
    world = World()
    async with keeping(tmp_path, world) as (keeper,):
        rollout = await in_canary(keeper, world)
        world.arms = {rollout.id: ArmsSeen(sums(10), sums(100))}
        await keeper.tick()
        await keeper.tick()
        world.arms = {rollout.id: ArmsSeen(sums(15), sums(130))}
        await keeper.tick()
        found = await latest(keeper)
        assert (found.candidate_evidence.requests, found.baseline_evidence.requests) == (15, 130)
        world.pid, world.arms = 2, {rollout.id: ArmsSeen(sums(1), sums(2))}  # a worker that began anew
        await keeper.tick()
        found = await latest(keeper)
        assert (found.candidate_evidence.requests, found.baseline_evidence.requests) == (16, 132)


async def test_gateways_with_one_database_judge_by_what_all_have_seen(tmp_path: Path) -> None:
    one, other = World(), World()
    async with keeping(tmp_path, one, other) as (first, second):
        rollout = await in_canary(first, one)
        one.arms = {rollout.id: ArmsSeen(sums(30, errors=2), sums(3000))}
        other.arms = {rollout.id: ArmsSeen(sums(40, errors=20), sums(4000))}
        await first.tick()
        assert (await latest(first)).status is RolloutStatus.RUNNING
        await second.tick()
        found = await latest(first)
        assert (found.status, found.candidate_evidence.requests) == (RolloutStatus.ROLLED_BACK, 70)
        await first.tick()
        assert (one.share, other.share) == (0.0, 0.0), "both take it back"


async def test_whoever_begins_anew_finds_the_share_that_was_saved(tmp_path: Path) -> None:
    world = World()
    async with keeping(tmp_path, world) as (keeper,):
        await in_canary(keeper, world)
        await keeper.act(MODEL, promoted, "me")
        database = await SqliteDatabase.open(tmp_path / "h.sqlite")
        stored = await rollouts_in(database).rollouts()
        await database.close()
        splits = splits_of(stored, {"old", "new", "other"})
        assert (splits[MODEL].share, splits[MODEL].share_before) == (0.05, 0.01)
        assert splits_of(stored, {"new"}) == {}, "whoever has removed the old pool is done with it"


async def test_a_candidate_that_never_gets_ready_is_given_up(tmp_path: Path) -> None:
    world = World()
    world.ready["new-0"] = False
    async with keeping(tmp_path, world) as (keeper,):
        await keeper.start(MODEL, ["new"], "me")
        await keeper.tick()
        assert (await latest(keeper)).status is RolloutStatus.RUNNING
        world.now += READY_WITHIN_S + 1
        await keeper.tick()
        assert (await latest(keeper)).steps[-1].why == "no replica of the candidate became ready"


async def test_a_candidate_that_is_lost_is_given_up_and_one_that_blinks_is_not(tmp_path: Path) -> None:
    world = World()
    async with keeping(tmp_path, world) as (keeper,):
        await in_canary(keeper, world)
        rollout = await latest(keeper)
        for number, (is_ready, later_s) in enumerate(((False, 1.0), (True, LOST_S), (False, 1.0))):
            world.ready["new-0"], world.now = is_ready, world.now + later_s
            world.arms = {rollout.id: ArmsSeen(sums(0), sums(10 * number))}  # others are answered meanwhile
            await keeper.tick()
            assert (await latest(keeper)).status is RolloutStatus.RUNNING
        world.now, world.arms = world.now + LOST_S, {rollout.id: ArmsSeen(sums(0), sums(100))}
        await keeper.tick()
        assert (await latest(keeper)).steps[-1].why == "no replica of the candidate was ready for 30 s"


async def test_by_hand(tmp_path: Path) -> None:
    world = World()
    async with keeping(tmp_path, world) as (keeper,):
        with pytest.raises(UnknownName, match="no rollout of chat is running"):
            await keeper.act(MODEL, paused, "me")
        await in_canary(keeper, world)
        with pytest.raises(ChangeRefused, match="A rollout of chat is running"):
            await keeper.start(MODEL, ["new"], "me")
        done = await keeper.act(MODEL, paused, "operator x")
        assert (done.status, done.steps[-1].who) == (RolloutStatus.PAUSED, "operator x")
        assert await latest(keeper) == done
        for model, pools, said in ((MODEL, ["next"], 'pool of chat "next"'), ("chta", ["new"], 'model "chta"')):
            with pytest.raises(UnknownName, match=said):
                await keeper.start(model, pools, "me")


async def test_where_a_rollout_stands_is_a_metric(tmp_path: Path) -> None:
    world = World()
    before = metrics.rollouts_ended.cell((MODEL, "aborted"))[0]
    async with keeping(tmp_path, world) as (keeper,):
        await in_canary(keeper, world)
        assert metrics.rollout_share.cell((MODEL,))[0] == 0.01
        stages = [sample.labels for sample in metrics.rollout_stage.samples() if sample.labels[0] == MODEL]
        assert stages == [(MODEL, "canary 1 %")]
        await keeper.act(MODEL, aborted, "me")
        assert metrics.rollout_share.cell((MODEL,))[0] == 0.0
        assert not [sample for sample in metrics.rollout_stage.samples() if sample.labels[0] == MODEL]
        assert metrics.rollouts_ended.cell((MODEL, "aborted"))[0] == before + 1


async def test_a_control_group_follows_what_is_ready_and_ends_with_the_canary(tmp_path: Path) -> None:
    world = World()
    world.ready = {f"{pool}-{number}": True for pool in ("old", "new") for number in range(5)}

    def groups() -> tuple[tuple[str, ...], tuple[str, ...]]:
        split = world.told[-1][MODEL]
        return split.candidate_replicas, split.control_replicas

    async with keeping(tmp_path, world) as (keeper,):
        await in_canary(keeper, world)
        assert groups() == (("new-0",), ("old-0",))
        assert keeper.splits()[MODEL].control_replicas == ("old-0",), "as an operator is told"
        world.ready |= {"old-0": False, "new-0": False}
        await keeper.tick()
        assert groups() == (("new-1",), ("old-1",))
        world.ready["old-1"] = False
        await keeper.tick()
        assert groups() == ((), ()), "three replicas spare none"
        world.ready |= {"old-0": True}
        await keeper.tick()
        assert groups() == (("new-1",), ("old-0",))
        await keeper.act(MODEL, aborted, "me")
        assert groups() == ((), ())


async def test_whoever_asks_for_no_control_group_gets_none(tmp_path: Path) -> None:
    world = World()
    world.ready = {f"{pool}-{number}": True for pool in ("old", "new") for number in range(5)}
    async with keeping(tmp_path, world) as (keeper,):
        await keeper.start(MODEL, ["new"], "me", has_control=False)
        for _ in range(3):
            await keeper.tick()
        assert world.share == 0.01
        assert world.told[-1][MODEL].control_replicas == ()
