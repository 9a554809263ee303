"""The paths of rollouts: who may see and do what, and that each change is in the log."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import pytest
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.guard import Guard
from heterodyne.console.rollouts.routes import rollout_routes
from heterodyne.console.rollouts.service import RolloutChanges
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.golden import GoldenSet
from heterodyne.rollout.groups import TrialGroups
from heterodyne.rollout.machine import Rollout, begin, observed, split_of
from tests.support.asgi import AsgiAnswer, ask
from tests.support.change_logs import ListedChanges
from tests.unit.rollout.test_machine import evidence, in_canary


class OneRollout:
    """Keeps one rollout in memory."""

    def __init__(self) -> None:
        self.rollout = observed(in_canary(), evidence(30), evidence(3000), 5.0)
        self.asked: list[str | None] = []

    async def start(
        self,
        model: str,
        candidate: Sequence[str],
        who: str,
        *,
        copies: int = 0,
        golden: GoldenSet | None = None,
        has_control: bool = True,
    ) -> Rollout:
        self.rollout = begin("r2", model, baseline=("old",), candidate=tuple(candidate), now=9.0)
        return self.rollout

    async def act(self, model: str, act: Callable[..., Rollout], who: str) -> Rollout:
        self.rollout = act(self.rollout, who=who, now=9.0)
        return self.rollout

    async def history(self, model: str | None) -> tuple[Rollout, ...]:
        self.asked.append(model)
        return (self.rollout,)

    def splits(self) -> Mapping[str, RolloutSplit]:
        return {self.rollout.model: split_of(self.rollout, TrialGroups(("new-0",), ("old-2",)))}


class Port:
    """An admin port over one rollout, with a key that may change it and one that may look."""

    def __init__(self) -> None:
        self.rollouts, self.log = OneRollout(), ListedChanges()
        operators = Operators(*((hashlib.sha256(key).hexdigest(),) for key in (b"operator", b"viewer")))
        guard = Guard(operators, HostNames(("127.0.0.1",), has_keys=True))
        changes = RolloutChanges(self.rollouts, ChangeRecorder(self.log))
        self.app = Starlette(routes=[one.starlette() for one in rollout_routes(guard, self.rollouts, changes)])

    async def get(self, path: str, key: str = "viewer") -> AsgiAnswer:
        return await ask(self.app, "GET", path, headers={"authorization": f"Bearer {key}", "host": "127.0.0.1"})

    async def post(self, path: str, body: bytes, key: str = "operator") -> AsgiAnswer:
        headers = {"authorization": f"Bearer {key}", "host": "127.0.0.1", "content-type": "application/json"}
        return await ask(self.app, "POST", path, headers=headers, pieces=(body,))


async def test_a_page_has_the_rollouts_and_where_each_stands() -> None:
    port = Port()
    page = (await port.get("/admin/rollouts?model=m")).json()
    assert port.rollouts.asked == ["m"]
    [rollout], [standing] = page["rollouts"], page["standings"]
    assert (rollout["id"], standing["rollout"], standing["stage"]) == ("r1", "r1", "canary 1 %")
    assert (standing["candidate_replicas"], standing["control_replicas"]) == (["new-0"], ["old-2"])
    assert {one["metric"]: one["judgement"] for one in standing["evidence"]}["errors"] == "unsure"
    assert (await port.get("/admin/rollouts?modle=m")).status == 400


@pytest.mark.parametrize("name", ["pause", "promote", "abort"])
async def test_a_change_by_hand_is_in_the_log_and_not_for_viewers(name: str) -> None:
    port = Port()
    refused = await port.post(f"/admin/rollouts/{name}", b'{"model":"m"}', key="viewer")
    assert (refused.status, refused.json()["error"]["code"]) == (403, "read_only")
    assert port.log.entries == []
    done = await port.post(f"/admin/rollouts/{name}", b'{"model":"m"}')
    assert done.status == 200
    assert [(one.what, one.outcome) for one in port.log.entries] == [
        (f"rollouts.{name}", "asked"),
        (f"rollouts.{name}", ""),
    ]


async def test_a_rollout_is_begun_with_what_the_form_says() -> None:
    port = Port()
    begun = await port.post("/admin/rollouts/start", b'{"model":"m","candidate":["new"],"control":false}')
    assert (begun.status, begun.json()["id"]) == (200, "r2")
    assert (await port.post("/admin/rollouts/start", b'{"model":"m","candidate":[]}')).status == 400
