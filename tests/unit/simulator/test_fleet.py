"""Fleet files: their own and the settings file; pools that cannot be say why."""

from pathlib import Path

import pytest

from heterodyne.config.settings import NAMED, SECTIONS
from heterodyne.domain.errors import HeterodyneError
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.physics.step_time import Speculation
from heterodyne.simulator.capacity import capacity_rps
from heterodyne.simulator.fleet import LaidOutPool, lay_out
from heterodyne.simulator.fleet_file import FleetFile, SimulatedPool, read_fleet
from heterodyne.simulator.fleet_text import pool_name
from heterodyne.simulator.fleet_text import write_fleet as write_fleet_file
from heterodyne.simulator.promise import Promise
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, log, pools, write_fleet

EXAMPLE = Path("examples/mixed-fleet/heterodyne.toml")
LLAMA = 'model = "llama-3.1-8b"\n'


def test_the_settings_of_a_gateway_are_a_fleet_and_pools_without_hardware_are_left_out() -> None:
    file = read_fleet(EXAMPLE, tables=(*SECTIONS, *NAMED))
    assert file.left_out == ("cpu",)
    laid_out = lay_out(file)
    assert [pool.name for pool in laid_out] == ["h100", "h200", "mi300x", "tpu-v5e"]
    assert laid_out[0].replicas[0].price.usd_per_hour == 1.80


def test_every_url_of_a_pool_is_a_replica(tmp_path: Path) -> None:
    text = f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\nurls = ["http://a:1", "http://b:1"]\n'
    assert len(lay_out(read_fleet(write_fleet(tmp_path, text)))[0].replicas) == 2


def test_a_pool_without_a_price_costs_what_its_chips_do() -> None:
    one, two = pools()[0], pools(tp=2)[0]
    assert one.replicas[0].price.usd_per_hour
    assert two.replicas[0].price.usd_per_hour == 2 * one.replicas[0].price.usd_per_hour


@pytest.mark.parametrize("hash_tokens", [16, 24, 512])
def test_memory_is_the_same_however_long_the_blocks_of_a_trace_are(hash_tokens: int) -> None:
    for engine in ("vllm", "tensorrt-llm"):
        pool = pools(engine=engine)[0]
        [machine] = pool.machines(hash_tokens)
        assert machine.scheduling.hash_tokens == hash_tokens
        assert 0 <= pool.scheduling.kv_tokens - machine.scheduling.kv_tokens < 32


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gateway]\nport = 1\n", "no pools"),
        ("pools = 3\n", "no pools"),
        ("[pools]\na = 3\n", "not a table"),
        (f"[pools.a]\n{LLAMA}", "no pool names its hardware"),
        (f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\nreplica = 3\n', 'did you mean "replicas"'),
        (f'[pools.a]\n{LLAMA}hardwre = "h100-sxm"\n', 'pools.a: no field "hardwre"; did you mean "hardware"'),
        (f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\n[pool.b]\n', 'no section "pool"; did you mean "pools"'),
        (f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\n[routng]\n', 'no section "routng"'),
        (f"[pools.gpt-4.1]\n{LLAMA}", r"write \[pools\.gpt-4-1\]"),
        (f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\nreplicas = 0\n', "pools.a"),
        (f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\nengine = "tgi"\n', "pools.a"),
        (f'[pools.a]\n{LLAMA}hardware = "h1000"\n', 'pools.a: no accelerator "h1000"'),
        ('[pools.a]\nmodel = "lama-3.1-8b"\nhardware = "h100-sxm"\n', 'pools.a: no model "lama-3.1-8b"'),
        ('[pools.a]\nmodel = "llama-3.1-70b"\nhardware = "l4"\n', "pools.a: .* does not fit"),
        (
            f'[pools.a]\n{LLAMA}hardware = "h100-sxm"\n[pools.b]\nmodel = "qwen3-32b"\nhardware = "h100-sxm"\n',
            "name the one",
        ),
        ("[pools.a", "fleet.toml"),
    ],
)
def test_a_fleet_that_cannot_be_or_is_misspelt_says_where_and_why(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(HeterodyneError, match=said):
        lay_out(read_fleet(write_fleet(tmp_path, text)))


def test_capacity_is_the_rate_at_which_the_share_is_just_kept() -> None:
    trial = Trial(policy="slo", seed=1, slo=SLO)
    arrivals = log(300)

    def kept(fleet: tuple[LaidOutPool, ...], rate: float) -> float:
        return report(run(fleet, workload(arrivals, rate=rate, requests=400), trial), trial).attainment

    one = capacity_rps(pools(), arrivals, trial, share=0.99, requests=400)
    assert kept(pools(), one) >= 0.99
    assert kept(pools(), one * 1.3) < 0.99
    assert capacity_rps(pools(slowdown=2.0), arrivals, trial, share=0.99, requests=400) < one


def test_a_service_level_nobody_keeps_has_no_capacity() -> None:
    trial = Trial(policy="slo", seed=1, slo=Slo(ttft_s=0.001, itl_s=0.05))
    with pytest.raises(HeterodyneError, match="--rate"):
        capacity_rps(pools(), log(50), trial, share=0.99, requests=50)


def test_a_planned_fleet_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    planned = FleetFile(
        pools={
            pool_name("h100-sxm x2 spot"): SimulatedPool(
                model="llama-3.1-70b",
                hardware="h100-sxm",
                tp=2,
                precision=Precision.FP8,
                replicas=3,
                price_usd_per_hour=4.5,
                speculation=Speculation(draft_tokens=2, acceptance=0.8),
            )
        },
        promise=Promise(ttft_ms=500, itl_ms=50, requests_per_s=12.5),
    )
    file = tmp_path / "fleet.toml"
    write_fleet_file(planned, file)
    assert read_fleet(file) == planned
    assert list(planned.pools) == ["h100-sxm-x2-spot"]


def test_a_promise_that_is_misspelt_says_where(tmp_path: Path) -> None:
    text = f'[promise]\nttft_ms = 500\nitl = 50\n[pools.a]\n{LLAMA}hardware = "h100-sxm"\n'
    with pytest.raises(HeterodyneError, match=r"promise: .*itl"):
        read_fleet(write_fleet(tmp_path, text))


def test_stores_and_roles_of_a_fleet_file_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(
        f'[pools.p]\n{LLAMA}hardware = "h100-sxm"\nrole = "prefill"\nkv_transfer = "dynamo"\nkv_store = "s"\n'
        f'[pools.d]\n{LLAMA}hardware = "h100-sxm"\nrole = "decode"\nkv_gb_per_s = 12.5\n'
        '[kv_stores.s]\nmedium = "redis"\ncapacity_gb = 100.0\n'
    )
    read = read_fleet(file)
    write_fleet_file(read, file)
    assert read_fleet(file) == read
    prefill, decode = lay_out(read)
    assert (prefill.kv.store, decode.kv.bytes_per_s) == ("s", 12.5e9)


def test_a_fleet_that_has_no_such_store_or_nobody_to_answer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(f'[pools.p]\n{LLAMA}hardware = "h100-sxm"\nkv_store = "shelf"\n')
    with pytest.raises(HeterodyneError, match=r'pools.p: no kv_store "shelf"'):
        read_fleet(file)
    file.write_text(f'[pools.p]\n{LLAMA}hardware = "h100-sxm"\nrole = "prefill"\n')
    with pytest.raises(HeterodyneError, match="none answers"):
        lay_out(read_fleet(file))
