"""Tables fit the screen they are shown on, lose nothing, and have colours where somebody sees them."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import msgspec
import pytest

import heterodyne
from heterodyne.audit.key import open_key
from heterodyne.batches.batch import BatchCounts
from heterodyne.cli.abuse import print_cases
from heterodyne.cli.batch import batch_table
from heterodyne.cli.batch.batch_client import ListedOutlook, ShownBatch
from heterodyne.cli.calibrate import calibration_table
from heterodyne.cli.cascade import print_fitted, print_outcomes
from heterodyne.cli.columns import laid_out
from heterodyne.cli.explain import decision_table
from heterodyne.cli.fleet import replica_table
from heterodyne.cli.guards import print_findings, print_verdicts
from heterodyne.cli.kv import print_kv
from heterodyne.cli.output import print_table
from heterodyne.cli.parity import verdict_table
from heterodyne.cli.policies import tables as policy_tables
from heterodyne.cli.rollout import rollout_table
from heterodyne.cli.scale.explain import print_scaling
from heterodyne.cli.simulate_batch import print_batch as print_simulated_batch
from heterodyne.console.abuse.pages import AbuseCase
from heterodyne.console.decisions.pages import DecisionPage
from heterodyne.console.rollouts.standing import standing_of
from heterodyne.console.scaling.pages import (
    DecisionRow,
    ModelNowRow,
    PoolNowRow,
    ScalingPage,
    ShortCause,
    ShortRow,
    StepRow,
)
from heterodyne.domain.artifact import Artifact, ArtifactProvenance, Recipe, StoredArtifact, WeightFormat
from heterodyne.domain.fleet import PoolName
from heterodyne.domain.parity import ParityMeasures, ParityVerdict
from heterodyne.planning.calibration.points import CalibrationPoint
from heterodyne.planning.scaling.action import ActionKind, ScalingReason
from heterodyne.rollout.groups import TrialGroups
from heterodyne.rollout.machine import observed, split_of
from heterodyne.routing.cascade.fitting import fit_cascade
from heterodyne.routing.cascade.report import outcomes
from heterodyne.routing.cascade.risk import RiskBound
from heterodyne.routing.explanation.explanation import PastDecision
from heterodyne.safety.answer_check import check_text
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.scan import scan
from heterodyne.simulator.beside import BatchPoolShare, BatchReport
from tests.support.audits import fill
from tests.support.guards import BLOCKS, plan
from tests.support.kv_pages import KV
from tests.support.policy_pages import CACHES, CASCADES, GUARDS, HITS
from tests.support.tiny_models import tiny_model
from tests.unit.cli.explain.test_command import RECORD, ROW, TOLD
from tests.unit.cli.fleet.test_command import page, row
from tests.unit.cli.test_simulate import FLEET
from tests.unit.rollout.test_machine import evidence, in_canary
from tests.unit.routing.cascade.observed import traffic

WIDTH = 100
TIMEOUT_S = 120.0
LONG = "pools.big.urls[12]: http://some-machine.some-zone.example.com:8000 is not ready: Connection refused after 2 s"
REASON = "1.21 times the price; it holds 512 tokens of the prompt"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
TRACE = "\n".join(["timestamp,prompt_tokens,output_tokens", *(f"{n},{100 + n % 30},{20 + n % 7}" for n in range(300))])
SCALED = """\
[promise]
ttft_ms = 2000
itl_ms = 100

[pools.l4]
model = "llama-3.1-8b"
hardware = "l4"
autoscaling = { minimum = 1, maximum = 4, cold_start_s = 60 }
"""
SECRET = "-----BEGIN PRIVATE KEY-----\n" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo\n" * 20
PLAN = ("--model", "llama-3.1-70b", "--precision", "fp8")

JUDGED = StoredArtifact(
    artifact=Artifact(
        model="a-model-with-a-long-name",
        version="v1",
        format=WeightFormat.SAFETENSORS,
        precision="int8",
        recipe=Recipe(builder="b"),
        files=(),
    ),
    provenance=ArtifactProvenance(at=0.0),
    verdicts=(
        ParityVerdict(
            reference="r",
            run_by="llamacpp",
            at=0.0,
            measures=ParityMeasures(
                positions=729,
                top1_agreement=0.938,
                unexplained_share=0.0,
                kl_nats=0.0025,
                kl_worst_nats=0.05,
                perplexity=26.8,
                reference_perplexity=26.5,
                continued_tokens=96,
                first_split=3,
            ),
            breaches=("KL 0.4 nats, at most 0.01",),
        ),
    ),
)
BATCH = ShownBatch(
    id=f"batch_{'0a' * 24}",
    endpoint="/v1/chat/completions",
    input_file_id=f"file-{'0a' * 24}",
    completion_window="24h",
    status="in_progress",
    created_at=1_700_000_000,
    expires_at=1_700_086_400,
    request_counts=BatchCounts(total=50_000, completed=12_345, failed=12),
    heterodyne=ListedOutlook(expected_at=1_700_090_000, is_late=True),
)
COMMANDS = [  # each that prints a table and needs nobody
    ("hardware", "list"),
    ("hardware", "show", "h100-sxm"),
    ("plan", "memory", *PLAN, "--hardware", "h100-sxm", "--tp", "2"),
    ("plan", "hardware", *PLAN),
    ("plan", "mix", *PLAN, "--traffic", "trace.csv"),
    ("plan", "traffic", "trace.csv"),
    ("scale", "plan", "--fleet", "scaled.toml", "--trace", "trace.csv"),
    ("simulate", "--fleet", "fleet.toml", "--trace", "trace.csv", "--policy", "slo"),
    ("config", "show"),
    ("models", "list"),
    ("models", "list", "--registry"),
    ("models", "show", "tiny"),
    ("models", "verify"),
    ("tenants", "list"),
    ("keys", "list"),
    ("usage", "--by", "day,organisation,project,key,model,pool,class,tier,hardware"),
    ("usage", "idle"),
    ("audit", "show", "--dir", "audit"),
]


@pytest.fixture
def said(run, tmp_path: Path) -> Callable[..., str]:
    """What a command prints on a screen of that width, in a folder with something to show."""
    (tmp_path / "fleet.toml").write_text(FLEET)
    (tmp_path / "scaled.toml").write_text(SCALED)
    (tmp_path / "trace.csv").write_text(TRACE)
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "HETERODYNE_CONSOLE__PORT": "9"}
    state |= {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def say(*words: str, columns: int = WIDTH) -> str:
        result = run(*words, env={**state, "COLUMNS": str(columns)})
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    return say


def tenants(say: Callable[..., str]) -> None:
    limits = [
        word for one in ("requests_per_minute", "tokens_per_day", "usd_per_month") for word in ("--limit", f"{one}=9")
    ]
    say("tenants", "create", "acme", *limits)
    say("tenants", "create", "acme/search", *limits, "--scope", "models=chat,small-*,a-model-with-a-long-name")
    say("keys", "create", "acme/search", "--name", "of the nightly job", *limits, "--expires-in", "90d")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:3]))
def test_every_table_fits_a_hundred_columns(said: Callable[..., str], tmp_path: Path, words: tuple[str, ...]) -> None:
    if words[0] in ("tenants", "keys", "usage"):
        tenants(said)
    if words[0] == "models" and words != ("models", "list"):
        said("models", "import", f"file:{tiny_model(tmp_path / 'source')}", "--name", "tiny")
    if words[0] == "audit":
        fill(tmp_path / "audit", open_key(tmp_path / "audit" / "audit.key", may_create=True), 12)
    assert [line for line in said(*words).splitlines() if len(line) > WIDTH and "  " in line.strip()] == []


def test_tables_of_a_running_gateway_fit_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    print_table(replica_table.HEADER, replica_table.table_rows(page(row(problems=(LONG,)), row(id="a-long-name-12"))))
    decision_table.print_explanation(
        msgspec.structs.replace(TOLD, candidates=(ROW, msgspec.structs.replace(ROW, region="eu-west", reason=REASON)))
    )
    decision_table.print_past(PastDecision(id="req_1", explanation=TOLD, record=RECORD))
    decision_table.print_latest(DecisionPage(decisions=(RECORD, msgspec.structs.replace(RECORD, id="req_" + "0" * 20))))
    calibration_table.print_points((CalibrationPoint(concurrency=8, prompt_tokens=512, output_tokens=64),))
    verdict_table.print_verdicts([JUDGED])
    batch_table.print_batches([BATCH])
    batch_table.print_batch(BATCH, as_json=False)
    rollout_table.print_rollouts([in_canary()])
    rollout_table.print_rollout(observed(in_canary(), evidence(3), evidence(300), 5.0), as_json=False)
    rollout_table.print_rollout(observed(in_canary(), evidence(400, errors=12), evidence(40_000), 5.0), as_json=False)
    print_policies()
    print_cases([CASE])
    print_simulated_batch(BESIDE)
    print_findings(SECRET, scan(SECRET))
    print_verdicts(SECRET, check_text(plan(BLOCKS).output, NOTHING, SECRET)[0].verdicts)
    fitted = fit_cascade(traffic(120), "small", "large", RiskBound(), seed=0)
    print_fitted(fitted)
    print_outcomes(outcomes(traffic(9), "small", "large", routed=[True] * 9, judged=[False] * 9))
    groups = TrialGroups(("new-0",), ("old-2",))
    standing = standing_of(in_canary(), split_of(in_canary(), groups))
    rollout_table.print_rollout(in_canary(), as_json=False, standing=standing)
    print_scaling(SCALING)
    shown = capsys.readouterr().out
    assert "times are compared at the same load: new-0 with old-2" in shown
    assert max(len(line) for line in shown.splitlines()) <= WIDTH
    assert all(word in shown for word in ("Connection", "refused", "0.0000645", "123", "(90-180)", "cheapest"))
    words = (
        "93.8%",
        "3 tokens",
        "failed",
        "canary 1 %",
        "surely worse: errors",
        " pp",
        "unknown",
        "private_key",
        "cascade (judged answer)",
        BATCH.id,
        "12357/50000",
        "shadow",
        "$13",
        "mixtral",
        "another scaler",
    )
    assert all(word in shown for word in words)


SCALING = ScalingPage(
    mode="act",
    models=(
        ModelNowRow(
            model="mixtral-8x7b",
            is_paused=False,
            needed=31.25,
            carried=28.0,
            most=96.0,
            short=ShortRow(
                requests_per_s=3.25,
                cause=ShortCause.OTHER_SCALER,
                because="another scaler of kubernetes wants 2 of chat, not 5",
                mend="leave the pool to one of the two",
            ),
            yields="another scaler of kubernetes wants 2 of chat, not 5",
            pools=(
                PoolNowRow(
                    pool=PoolName("chat-mi300x-us-east"),
                    driver="kubernetes",
                    minimum=1,
                    maximum=16,
                    wanted=5,
                    ready=4,
                    warming=1,
                    draining=0,
                    cold_start_s=140.0,
                    cold_starts=7,
                    problem="Pod llm/chat-7: ImagePullBackOff",
                ),
            ),
        ),
    ),
    decisions=(
        DecisionRow(
            at=1_793_534_400.0,
            model="mixtral-8x7b",
            is_dry_run=False,
            needed=31.25,
            carried=28.0,
            steps=(
                StepRow(
                    kind=ActionKind.ADD,
                    pool=PoolName("chat-mi300x-us-east"),
                    count=1,
                    reason=ScalingReason.TREND,
                    because="28.41 usual requests/s come, 31.25 by the time another is ready, and 4 carry 28.00",
                    otherwise="10% of what comes would be more than the promise bears",
                    outcome="pools.chat-mi300x-us-east: 6 replicas, and 5 is the most",
                ),
            ),
        ),
    ),
)

CASE = AbuseCase(
    key="key_0123456789abcdef",
    project="acme/research",
    policy="templates",
    watch="similar_prompts",
    rule="similar_prompts",
    action="slow_down",
    found_at=1_793_534_400.0,
    until_at=1_793_538_000.0,
    detail="23 keys, 212 prompts that have 0.82 of their words in common",
)

BESIDE = BatchReport(
    lines=48_210,
    lines_per_s=162.4,
    alone_lines_per_s=438.0,
    load=0.6,
    left_over_lines_per_s=175.2,
    attainment_without=1.0,
    attainment_with=0.9967,
    prefix_hit_share=0.95,
    pools=(BatchPoolShare(pool="mi300x-us-east", lines_per_s=98.1, in_flight_mean=212.4),),
)


def print_policies() -> None:
    policy_tables.print_guards(GUARDS)
    policy_tables.print_hits(HITS)
    policy_tables.print_caches(CACHES)
    policy_tables.print_cascades(CASCADES)
    print_kv(KV, with_replicas=True)


def test_whoever_prints_a_table_is_tried_above() -> None:
    tried = {
        *("audit/command", "calibrate/calibration_table", "config", "explain/decision_table", "fleet/command"),
        *("hardware", "plan/hardware_table", "keys/command", "plan/memory_table", "plan/mix_tables"),
        *("models/command", "models/registry_commands", "models/registry_list", "models/show_command"),
        *("output", "simulate", "tenants/command", "plan/traffic_table", "usage/usage_table"),
        *("batch/batch_table", "cascade", "guards", "parity/verdict_table", "policies/tables"),
        *("abuse", "kv", "scale/explain", "scale/plan", "simulate_batch"),
        "rollout/rollout_table",
    }
    folder = Path(heterodyne.__file__).parent / "cli"
    printing = {
        str(path.relative_to(folder).with_suffix(""))
        for path in folder.rglob("*.py")
        if "print_table(" in path.read_text(encoding="utf-8")
    }
    assert printing == tried


def test_nothing_is_lost_where_cells_are_wrapped() -> None:
    cells = [["one two three", "http://127.0.0.1:8000/path", "1,234.50"], ["", "x" * 50, "-3"]]
    for width in (26, 30, 45, 80):
        for cell_row, lines in zip(
            cells, laid_out(("A", "B", "C D E"), cells, width, lambda _, line: line)[1:], strict=True
        ):
            shown = re.sub(r"\s", "", "".join(lines))
            assert sorted(shown) == sorted(re.sub(r"\s", "", "".join(cell_row)))
            assert max(map(len, lines)) <= width


def test_more_columns_than_a_screen_holds_become_records() -> None:
    header = [f"column_{number}" for number in range(20)]
    head, record = laid_out(header, [[f"value {number}" for number in range(20)]], 60, lambda _, line: line)
    assert head == []
    assert record[:2] == ["column_0  value 0", "column_1  value 1"]
    assert record[-1] == ""


def test_a_row_in_a_pipe_is_a_line(run) -> None:
    lines = run("config", "show").stdout.splitlines()
    assert all(line.split()[-1] in ("FROM", "default") for line in lines)


def on_a_terminal(folder: Path, *words: str, **environment: str) -> tuple[str, str]:
    """What a command says on stdout and stderr, each a terminal of its own."""
    masters, slaves = zip(*(pty.openpty() for _ in range(2)), strict=True)
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "heterodyne", *words],
        stdin=subprocess.DEVNULL,
        stdout=slaves[0],
        stderr=slaves[1],
        cwd=folder,
        env={**plain, "TERM": "xterm", "HOME": str(folder), "COLUMNS": str(WIDTH), **environment},
    )
    for slave in slaves:
        os.close(slave)
    with ThreadPoolExecutor(2) as readers:
        shown, talk = readers.map(_read_terminal, masters)
    assert process.wait(TIMEOUT_S) == 0, talk
    return shown, talk


def _read_terminal(master: int) -> str:
    heard = b""
    with contextlib.suppress(OSError):  # a terminal whose other end is closed says so with EIO
        while piece := os.read(master, 1 << 16):
            heard += piece
    os.close(master)
    return heard.decode()


def test_a_table_has_colours_on_a_terminal_and_none_where_they_are_unwanted(tmp_path: Path) -> None:
    shown, _ = on_a_terminal(tmp_path, "hardware", "list")
    assert ANSI.search(shown)
    for words, environment in ((("hardware", "list"), {"NO_COLOR": "1"}), (("--no-color", "hardware", "list"), {})):
        plain, _ = on_a_terminal(tmp_path, *words, **environment)
        assert "h100-sxm" in plain
        assert not ANSI.search(plain)


def test_long_commands_show_progress_on_a_terminal_alone(tmp_path: Path, run) -> None:
    (tmp_path / "fleet.toml").write_text(FLEET)
    (tmp_path / "trace.csv").write_text(TRACE)
    words = ("simulate", "--fleet", "fleet.toml", "--trace", "trace.csv", "--requests", "600")
    assert "%" in on_a_terminal(tmp_path, *words)[1]
    assert "%" not in on_a_terminal(tmp_path, *words, "--json")[1]
    assert "%" not in run(*words).stderr
    plan = ("plan", "hardware", "--model", "llama-3.1-8b", "--precision", "fp8")
    assert "rehearsing" in on_a_terminal(tmp_path, *plan)[1]
    assert "rehearsing" not in run(*plan).stderr


def test_no_colour_reaches_a_pipe(run) -> None:
    assert not ANSI.search(run("hardware", "list").stdout)
    assert click.style("x", bold=True) != "x"
