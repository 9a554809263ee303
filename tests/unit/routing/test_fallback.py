"""Where a request goes, by who may be asked and what the router forecasts."""

import asyncio
from collections.abc import Iterator

import msgspec
import pytest

from heterodyne.control.adapter_loader import AdapterLoader
from heterodyne.domain.errors import ContextExceeded, EnginesFull, EngineUnavailable, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Health, ModelRule, PoolName, Purpose, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.price import Price
from heterodyne.domain.request import Request
from heterodyne.domain.routing_rule import Reason, RoutingRule
from heterodyne.engines.catalogue import DIALECTS, ENGINES
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.private_fields import PrivateFields
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.settings import RoutingSettings
from heterodyne.wire.connection_pool import ConnectionPool
from tests.support.requests_copied import changed


def replica(name: str, *, model: str = "m", health: Health = Health.READY, purpose: Purpose | None = None) -> Replica:
    return Replica(
        id=ReplicaId(name),
        pool=PoolName(f"p-{model}"),
        model=model,
        engine="openai",
        host="h",
        port=1,
        health=health,
        purpose=purpose,
    )


def request(model: str = "m", operation: Operation = Operation.CHAT) -> Request:
    return Request(id="1", operation=operation, model=model, body=b"")


def fleet(*replicas: Replica, **rules: ModelRule) -> FleetSnapshot:
    return FleetSnapshot.of(1, replicas, rules)


class Rig:
    """A selector over a fleet, at a time and with a chance of the test's choosing."""

    def __init__(self, snapshot: FleetSnapshot) -> None:
        self.now_s = 0.0
        self.chances: Iterator[float] = iter(())
        view = FleetView(DIALECTS, snapshot)
        self.fleet_health = FleetHealth(RoutingSettings(), snapshot, 0.0)
        self.router = Router(snapshot, prior_of=lambda _: None, chance=self.chance, now_s=0.0)
        loop = asyncio.new_event_loop()
        keeper = AdapterLoader(ENGINES, ConnectionPool(loop, idle_max=0, connect_timeout_s=1.0), clock=self.clock)
        loop.close()
        self.selector = FallbackRouter(
            snapshot,
            self.fleet_health,
            self.router,
            fields=PrivateFields(view),
            nearness=keeper.nearness,
            chance=self.chance,
        )

    def clock(self) -> float:
        return self.now_s

    def chance(self) -> float:
        return next(self.chances, 0.9)

    def decide(self, asked: Request | None = None, *, failed: tuple[str, ...] = (), **fields: object) -> RoutingChoice:
        asked = asked or request()
        routing_request = RoutingRequest(
            **{"model": asked.model, "prompt_tokens": 100, "output_tokens": 100.0, **fields}
        )  # type: ignore[arg-type]
        return self.selector.decide(asked, routing_request, self.now_s, frozenset(map(ReplicaId, failed)))

    def fill(self, name: str, count: int) -> None:
        """So many requests are on their way there."""
        routing_request = RoutingRequest(model="m", prompt_tokens=1000, output_tokens=100.0)
        for _ in range(count):
            self.router.start(
                routing_request, self.router.forecast(routing_request, ReplicaId(name), self.now_s), self.now_s
            )


def test_the_replica_with_less_to_do_is_asked() -> None:
    rig = Rig(fleet(replica("a"), replica("b"), replica("c", health=Health.DOWN)))
    rig.fill("a", 3)
    rig.fill("b", 1)
    choice = rig.decide()
    assert (choice.target.id, choice.reason) == ("b", Reason.ONLY_POOL)


def test_replicas_that_came_back_nearly_together_get_the_same() -> None:
    rig = Rig(fleet(replica("a", health=Health.DOWN), replica("b", health=Health.DOWN)))
    for at_s, up in (
        (1.0, fleet(replica("a"), replica("b", health=Health.DOWN))),
        (1.01, fleet(replica("a"), replica("b"))),
    ):
        rig.selector.publish(up)
        rig.fleet_health.publish(up, at_s)
        rig.router.publish(up, at_s)
    rig.now_s = 16.0  # half of their slow start
    rig.fill("a", 3)
    rig.chances = iter([0.9999999] * 10)
    assert rig.decide().target.id == "b", "chance is against whoever gets less"


def test_an_only_replica_is_taken_without_a_choice() -> None:
    assert Rig(fleet(replica("a"))).decide().reason is Reason.ONLY_REPLICA


def test_a_replica_that_failed_this_request_is_not_asked_again() -> None:
    rig = Rig(fleet(replica("a"), replica("b")))
    assert rig.decide(failed=("a",)).target.id == "b"
    with pytest.raises(EngineUnavailable):
        rig.decide(failed=("a", "b"))


@pytest.mark.parametrize("health", [Health.STARTING, Health.DOWN])
def test_a_model_without_a_ready_replica_is_worth_another_try_soon(health: Health) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        Rig(fleet(replica("a", health=health))).decide()
    assert caught.value.retry_after_s == 2


def test_who_decides_does_not_know_who_asks_and_names_no_other_model() -> None:
    rig = Rig(fleet(replica("a", model="llama"), replica("b", model="mini")))
    with pytest.raises(UnknownModel, match=r"^The model 'lama' does not exist\.$"):
        rig.decide(request("lama"))


def test_a_model_is_asked_only_for_what_it_is_for() -> None:
    rig = Rig(fleet(replica("a", purpose=Purpose.EMBED), replica("b", model="n", purpose=Purpose.GENERATE)))
    with pytest.raises(InvalidField, match="/v1/embeddings"):
        rig.decide(request("m"))
    with pytest.raises(InvalidField, match="generates text"):
        rig.decide(request("n", Operation.EMBEDDING))
    assert rig.decide(request("m", Operation.TOKENIZE)).target.id == "a"


def test_only_a_model_that_takes_tensors_is_given_them_and_nothing_else() -> None:
    rig = Rig(
        fleet(
            replica("a", purpose=Purpose.INFER),
            replica("b", model="n"),
            replica("c", model="g", purpose=Purpose.GENERATE),
        )
    )
    assert rig.decide(request("m", Operation.INFER)).target.id == "a"
    for operation in (Operation.CHAT, Operation.COMPLETION, Operation.EMBEDDING):
        with pytest.raises(InvalidField, match="/v2/models"):
            rig.decide(request("m", operation))
    with pytest.raises(InvalidField, match="does not take tensors"):
        rig.decide(request("n", Operation.INFER))
    with pytest.raises(InvalidField, match="generates text"):
        rig.decide(request("g", Operation.INFER))


def test_preferred_regions_and_own_capacity_come_first() -> None:
    hosted = msgspec.structs.replace(replica("hosted"), price=Price(usd_per_million_prompt_tokens=1.0), region="eu")
    far, near = (
        msgspec.structs.replace(replica(name), region=region) for name, region in (("far", "us"), ("near", "eu"))
    )
    rig = Rig(fleet(hosted, far, near, m=ModelRule(regions_first=("eu",))))
    rig.fill("near", 50)
    assert rig.decide().target.id == "near"
    assert rig.decide(failed=("near",)).target.id == "far"
    assert rig.decide(failed=("near", "far")).target.id == "hosted"


def test_a_replica_that_has_just_come_back_gets_a_growing_share() -> None:
    both = fleet(replica("a"), replica("b"))
    rig = Rig(fleet(replica("a", health=Health.DOWN), replica("b")))
    rig.now_s = 100.0
    for part in (rig.fleet_health, rig.router):
        part.publish(both, 100.0)
    rig.fill("b", 20)
    rig.chances = iter([0.5])
    assert rig.decide().target.id == "b", "a tenth of its share in the beginning"
    rig.chances = iter([0.05])
    assert rig.decide().target.id == "a"
    rig.now_s = 200.0
    assert rig.decide().target.id == "a", "all of it in the end"


def test_replicas_that_all_have_just_started_share_as_ever() -> None:
    rig = Rig(fleet(replica("a", health=Health.STARTING), replica("b", health=Health.STARTING)))
    ready = fleet(replica("a"), replica("b"))
    for part in (rig.fleet_health, rig.router):
        part.publish(ready, 1.0)
    rig.now_s = 1.0
    rig.fill("a", 2)
    assert [rig.decide().target.id for _ in range(10)] == ["b"] * 10


def test_rules_say_which_pools_and_regions_serve_a_model() -> None:
    elsewhere = msgspec.structs.replace(replica("b"), region="us", pool=PoolName("q"))
    for rule in (ModelRule(pools=(PoolName("p-m"),)), ModelRule(regions_only=("eu",))):
        here = msgspec.structs.replace(replica("a"), region="eu")
        assert [one.id for one in FleetSnapshot.of(1, (here, elsewhere), {"m": rule}).by_model["m"]] == ["a"]


def test_a_fleet_that_is_drained_does_not_ask_to_come_back() -> None:
    drained = msgspec.structs.replace(replica("a"), is_draining=True)
    with pytest.raises(EngineUnavailable, match="drained") as caught:
        Rig(fleet(drained)).decide()
    assert caught.value.retry_after_s is None


def test_a_model_nobody_can_serve_is_answered_by_its_fallback() -> None:
    rig = Rig(
        fleet(replica("a", health=Health.DOWN), replica("b", model="small"), m=ModelRule(fallbacks=("gone", "small")))
    )
    assert rig.decide().target.model == "small"


def test_a_model_that_would_be_late_is_answered_by_one_that_would_not() -> None:
    rule = ModelRule(late_fallbacks=("small",), routing=RoutingRule(ttft_slo_s=0.5))
    rig = Rig(fleet(replica("a"), replica("b", model="small"), m=rule))
    assert rig.decide(ttft_slo_s=0.5).target.model == "m", "in time"
    rig.fill("a", 100)
    assert rig.decide(ttft_slo_s=0.5).target.model == "small"
    assert rig.decide().target.model == "m", "nothing is promised, so nothing is late"


def test_a_replica_that_keeps_failing_is_left_out() -> None:
    rig = Rig(fleet(*[replica(name) for name in "abc"]))
    fleet_health = rig.fleet_health.of(ReplicaId("a"))
    for _ in range(5):
        fleet_health.on_end(Outcome.ENGINE_FAILED, 0.0, fleet_health.on_start(0.0, 1))
    rig.fill("b", 3)
    rig.fill("c", 3)
    assert rig.decide().target.id != "a"


def test_a_chosen_pool_is_the_only_one_asked_and_nobody_stands_in_for_it() -> None:
    first, second = replica("a"), msgspec.structs.replace(replica("b"), pool=PoolName("other"))
    stand_in = replica("c", model="n")
    rig = Rig(fleet(first, second, stand_in, m=ModelRule(fallbacks=("n",))))
    for pool, id in (("other", "b"), ("p-m", "a")):
        choice = rig.selector.decide(
            request(), RoutingRequest(model="m", prompt_tokens=1, output_tokens=1.0, pool=pool), rig.now_s
        )
        assert choice.target.id == id
    chosen = RoutingRequest(model="m", prompt_tokens=1, output_tokens=1.0, pool="other")
    with pytest.raises(EngineUnavailable):
        rig.selector.decide(request(), chosen, rig.now_s, frozenset({ReplicaId("b")}))


def test_a_prompt_goes_to_the_pool_whose_context_it_fits_and_is_refused_when_none_does() -> None:
    short, long = (
        msgspec.structs.replace(replica(name), pool=PoolName(name), context_tokens=tokens)
        for name, tokens in (("short", 8192), ("long", 32768))
    )
    rig = Rig(fleet(short, long))
    asked = changed(request(), prompt_chars=40_000)
    rig.fill("long", 50)
    assert rig.decide(asked, prompt_tokens=1000).target.id == "short"
    assert rig.decide(asked, prompt_tokens=10_000).target.id == "long"
    with pytest.raises(EnginesFull):
        rig.decide(changed(asked, output_tokens_max=20_000), failed=(), prompt_tokens=10_000, pool="short")
    with pytest.raises(ContextExceeded, match="1000000 characters; the context of 'm' is 32768 tokens"):
        rig.decide(changed(asked, prompt_chars=1_000_000), prompt_tokens=250_000)


def test_a_model_with_a_longer_context_stands_in_only_where_the_prompt_fits() -> None:
    down = replica("a", health=Health.DOWN)
    short = msgspec.structs.replace(replica("b", model="short"), context_tokens=100)
    long = msgspec.structs.replace(replica("c", model="long"), context_tokens=1000)
    rig = Rig(fleet(down, short, long, m=ModelRule(fallbacks=("short", "long"))))
    asked = changed(request(), prompt_chars=2000)
    assert rig.decide(asked, prompt_tokens=500).target.id == "c"


def speaking(name: str, engine: str, *allow_fields: str) -> Replica:
    return msgspec.structs.replace(replica(name), engine=engine, allow_fields=allow_fields)


def with_fields(*fields: str) -> Request:
    return changed(request(), private_fields=fields)


def test_fields_of_one_engine_go_to_replicas_that_may_be_sent_them() -> None:
    rig = Rig(fleet(speaking("a", "llamacpp"), speaking("b", "vllm"), speaking("c", "vllm", "priority")))
    rig.fill("b", 5)
    assert rig.decide(with_fields("guided_json")).target.id in ("b", "c")
    assert rig.decide(with_fields("guided_json", "priority")).target.id == "c"
    assert rig.decide(with_fields("grammar")).target.id == "a"


def test_a_field_that_no_replica_of_the_model_may_be_sent_is_refused_by_its_path() -> None:
    rig = Rig(fleet(speaking("a", "vllm"), speaking("b", "sglang"), replica("c", model="other")))
    with pytest.raises(InvalidField, match=r"kv_transfer_params\.remote_host: no field .* 'm' \(vllm\)") as refused:
        rig.decide(with_fields("top_k", "kv_transfer_params.remote_host"))
    assert refused.value.param == "kv_transfer_params.remote_host"


def test_replicas_that_know_a_field_and_cannot_take_it_now_are_no_reason_to_blame_the_client() -> None:
    down = msgspec.structs.replace(speaking("b", "vllm"), health=Health.DOWN)
    with pytest.raises(EngineUnavailable):
        Rig(fleet(speaking("a", "llamacpp"), down)).decide(with_fields("guided_json"))


def test_a_model_that_may_not_be_sent_a_field_does_not_stand_in_for_another() -> None:
    down = msgspec.structs.replace(speaking("a", "vllm"), health=Health.DOWN)
    stand_in = msgspec.structs.replace(replica("b", model="other"), engine="llamacpp")
    rig = Rig(fleet(down, stand_in, m=ModelRule(fallbacks=("other",))))
    assert rig.decide(request()).target.id == "b"
    with pytest.raises(EngineUnavailable):
        rig.decide(with_fields("guided_json"))


def test_the_longest_sequence_of_a_model_holds_for_replicas_that_could_take_more() -> None:
    roomy = msgspec.structs.replace(replica("a"), context_tokens=32768)
    rig = Rig(fleet(roomy, replica("b"), m=ModelRule(context_tokens=1024)))
    assert rig.decide(changed(request(), prompt_chars=16_000), prompt_tokens=4000)
    with pytest.raises(ContextExceeded, match="1024 tokens"):
        rig.decide(changed(request(), prompt_chars=17_000), prompt_tokens=4000)
    with pytest.raises(InvalidField, match="max_tokens: 2000"):
        rig.decide(changed(request(), output_tokens_max=2000))
