"""An operator reads where a prompt's KV comes from, what else there was, and what each would have taken."""

import msgspec
from msgspec import structs

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.explanation.explain import explain
from heterodyne.routing.explanation.explanation import Explanation
from tests.support.kv_fleets import LINKED, KvFleet, asked, copying, decoding, prefilling

SHARED = KvStoreSettings(medium="memory", capacity_gb=100.0)


def told(one: KvFleet) -> Explanation:
    usable = one.fleet.by_model["m"]
    choice = one.router.try_dry_run(asked(), usable, one.now_s)
    assert choice is not None
    forecasts = one.router.compare(asked(), usable, one.now_s)
    return explain(asked(), forecasts, choice, one.router.objective(asked()), policy="slo")


def test_every_origin_is_told_with_what_it_would_take() -> None:
    one = KvFleet(*(copying(name, kv_store="s", kv_host_bytes=10**11) for name in ("a", "b")), stores={"s": SHARED})
    one.serve(asked(), "a")
    one.occupy("a")
    said = told(one)
    assert said.origins[0].origin is None
    assert {origin.origin for origin in said.origins} == {None, KvOrigin.PEER, KvOrigin.STORE}
    (taken,) = [origin for origin in said.origins if origin.is_taken]
    assert taken.replica == "b"
    assert taken.saved_ms > 1000
    assert "KV: compute on " in said.conclusion
    assert "fetch from a to b" in said.conclusion
    assert "(taken)" in said.conclusion


def test_a_split_names_both_sides() -> None:
    quick = structs.replace(LINKED, prompt_token_s=1e-5)
    said = told(KvFleet(prefilling(), decoding("d1"), decoding("d2"), priors={"prompts": quick}))
    assert "compute on prompts, answer on d" in said.conclusion


def test_nothing_is_said_where_nothing_was_compared() -> None:
    said = told(KvFleet(copying("a"), copying("b")))
    assert said.origins == ()
    assert "KV:" not in said.conclusion


def test_it_is_told_in_json_as_well() -> None:
    one = KvFleet(copying("a"), copying("b"))
    one.serve(asked(), "a")
    one.occupy("a")
    page = msgspec.json.decode(msgspec.json.encode(told(one)))
    assert page["origins"][1]["origin"] == "peer"
    assert page["origins"][1]["words"].startswith("fetch from a to b ")
