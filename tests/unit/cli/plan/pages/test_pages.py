"""The web pages of `plan`: one file each, escaped, complete, and readable by eyes and by programs."""

import json
from datetime import date
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from heterodyne.cli.plan.pages.chart import Axis, ChartPoint, chart, frontier
from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.hardware import hardware_page
from heterodyne.cli.plan.pages.label import Box, Spot, place_labels
from heterodyne.cli.plan.pages.mark import CORNERS, MARKS, OTHERS, Mark, MarkShape
from heterodyne.cli.plan.pages.memory import memory_page
from heterodyne.cli.plan.pages.mix import mix_page
from heterodyne.cli.plan.pages.page import Provenance
from heterodyne.cli.plan.pages.scale import scale_for, tick_text
from heterodyne.cli.plan.pages.style import DARK, LIGHT
from heterodyne.cli.plan.pages.tone import COLOURS, Tone
from heterodyne.cli.plan.pages.traffic import traffic_page
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.memory import Demand, Layout
from heterodyne.physics.model_shapes import model_spec as model
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.fit import Fit, fit
from heterodyne.planning.hardware.ranking import HardwareRequirements, Ranking, rank_hardware
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.planning.traffic.traffic_profile import traffic_profile

HOSTILE = '<script>alert("x")</script>&'
MADE = Provenance(command=f"heterodyne plan {HOSTILE}", day=date(2025, 3, 4), version="9.8.7")
VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Checks that elements nest, and keeps what a page says and what it points at."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def wish(**changes: object) -> HardwareRequirements:
    fields = {"model": model("llama-3.1-70b"), "precision": Precision.FP8, "slo": Slo(ttft_s=0.5, itl_s=0.05)}
    return HardwareRequirements(**{**fields, **changes})  # type: ignore[arg-type]


def asked(chip: str, *, tp: int = 1, name: str | None = None) -> Fit:
    spec = model("qwen3-32b")
    spec = spec if name is None else msgspec.structs.replace(spec, name=name)
    layout = Layout(model=spec, accelerator=accelerator(chip), precision=Precision.BF16, tp=tp)
    return fit(layout, Demand(context_tokens=40960), accelerators())


def mixed(name: str = "chat") -> MixProblem:
    return MixProblem(
        buckets=(TrafficBucket(name=name, requests_per_s=40.0), TrafficBucket(name="documents", requests_per_s=2.0)),
        kinds=(
            ReplicaKind(name="big", usd_per_hour=3.0, requests_per_s={name: 9.0, "documents": 0.6}),
            ReplicaKind(
                name="prompts", role=ReplicaRole.PREFILL, usd_per_hour=3.0, requests_per_s={name: 30, "documents": 2}
            ),
            ReplicaKind(
                name="answers", role=ReplicaRole.DECODE, usd_per_hour=1.0, requests_per_s={name: 20, "documents": 3}
            ),
        ),
    )


def log() -> list[TraceRequest]:
    return [
        TraceRequest(at_s=60.0 * minute, prompt_tokens=100 + minute, output_tokens=20, block_hashes=(1, minute))
        for minute in range(3000)
    ]


def hardware() -> str:
    ranking = rank_hardware(wish(), accelerators())
    return hardware_page(ranking, wish(), catalogue=accelerators(), every_width=False, provenance=MADE)


def memory() -> str:
    return memory_page(asked("h100-sxm"), caveats=(HOSTILE,), provenance=MADE)


def mix() -> str:
    problem = mixed(HOSTILE)
    return mix_page(problem, cheapest_mix(problem), provenance=MADE)


def traffic() -> str:
    return traffic_page(traffic_profile(log()), name=HOSTILE, provenance=MADE)


PAGES = [hardware, memory, mix, traffic]


@pytest.mark.parametrize("make", PAGES)
def test_a_page_is_one_well_formed_file_that_fetches_nothing(make) -> None:
    page = make()
    reader = read(page)
    assert page.startswith("<!doctype html>")
    assert reader.references == []
    assert all(word not in page for word in ("http://", "https://", "url(", "@import", "<script", "<link", "<img"))
    assert reader.seen.count("h1") == reader.seen.count("main") == 1
    assert len(page) < 200_000


@pytest.mark.parametrize("make", PAGES)
def test_a_page_says_how_it_was_made_and_what_it_rests_on(make) -> None:
    text = read(make()).text
    assert MADE.command in text
    assert "Heterodyne 9.8.7, 2025-03-04" in text
    assert "What the figures rest on" in text
    assert "docs/physics-accuracy.md" in text


@pytest.mark.parametrize("make", PAGES)
def test_every_drawing_has_a_name_for_those_who_cannot_see_it(make) -> None:
    drawings = make().split("<svg")[1:]
    assert drawings
    assert all(('role="img"' in one and "aria-label=" in one) or 'aria-hidden="true"' in one for one in drawings)


def test_a_model_name_with_markup_stays_text() -> None:
    answer = asked("h100-sxm", name=HOSTILE)
    assert f"Memory for {HOSTILE} on h100-sxm" in read(memory_page(answer, caveats=(), provenance=MADE)).text
    hostile = wish(model=msgspec.structs.replace(model("llama-3.1-70b"), name=HOSTILE))
    empty = Ranking(choices=(), refused=())
    page = hardware_page(empty, hostile, catalogue=accelerators(), every_width=False, provenance=MADE)
    assert f"Hardware for {HOSTILE} in fp8" in read(page).text


def test_attributes_and_children_are_escaped_and_elements_are_not_escaped_twice() -> None:
    inner = element("b", "a < b", title='"quoted"')
    assert inner == '<b title="&quot;quoted&quot;">a &lt; b</b>'
    assert element("p", inner, "&", class_=None) == f"<p>{inner}&amp;</p>"
    assert isinstance(inner, Markup)


def test_hardware_shows_the_ranking_the_frontier_and_what_was_left_out() -> None:
    ranking = rank_hardware(wish(), accelerators())
    page = hardware_page(ranking, wish(), catalogue=accelerators(), every_width=True, provenance=MADE)
    text = read(page).text
    assert f"{ranking.choices[0].usd_per_million_tokens:,.2f} USD per million tokens" in text
    assert all(f"{choice.tp} x {choice.accelerator}" in text for choice in ranking.choices)
    assert all(one.accelerator in text for one in ranking.refused)
    assert page.count('class="frontier"') >= 1
    assert "target 50 ms" in text


def test_the_charts_show_every_replica_from_idle_to_its_fullest_and_beyond() -> None:
    ranking = rank_hardware(wish(), accelerators())
    page = hardware_page(ranking, wish(), catalogue=accelerators(), every_width=False, provenance=MADE)
    assert page.count('class="frontier"') == 3
    cheapest = ranking.choices[0]
    within = [at for at in cheapest.curve if at.requests_per_s <= cheapest.load.requests_per_s * 1.001]
    assert within[-1].requests_per_s == pytest.approx(cheapest.load.requests_per_s)
    assert len(within) < len(cheapest.curve)
    name = f"{cheapest.tp} x {cheapest.accelerator}"
    assert all(page.count(f"{name}, {at.requests_per_s:.3g} requests/s:") >= 2 for at in within)
    assert "promised 1 %" in read(page).text


def test_targets_that_none_keeps_make_a_page_that_says_so() -> None:
    strict = wish(slo=Slo(ttft_s=1e-6, itl_s=1e-6))
    ranking = rank_hardware(strict, accelerators())
    page = hardware_page(ranking, strict, catalogue=accelerators(), every_width=False, provenance=MADE)
    text = read(page).text
    assert "No accelerator we know of keeps these targets." in text
    assert "one request alone gets a token every" in text


def test_memory_that_lacks_shows_how_much_and_what_would_fit() -> None:
    answer = asked("h100-sxm")
    text = read(memory_page(answer, caveats=(), provenance=MADE)).text
    assert "Does not fit: each chip lacks 3.93 GiB." in text
    assert "What there is: 79.18 GiB; 3.93 GiB lack." in text
    assert answer.changes
    assert all(change.sentence in text for change in answer.changes)


def test_memory_that_fits_shows_what_is_free() -> None:
    page = memory_page(asked("h200-sxm", tp=2), caveats=("mind the gap",), provenance=MADE)
    text = read(page).text
    assert "Fits. At 40960 tokens" in text
    assert "free" in text
    assert "lacking" not in text
    assert "mind the gap." in text


def test_a_mix_shows_replicas_prompts_and_answers_and_the_saving() -> None:
    problem = mixed()
    plan = cheapest_mix(problem)
    text = read(mix_page(problem, plan, provenance=MADE)).text
    assert all(name in text for name in plan.replicas)
    assert f"Together {plan.usd_per_hour:,.2f} USD/hour." in text
    assert "this mix" in text
    assert "Heterodyne did not check them" in text


def test_traffic_shows_lengths_hours_and_caches() -> None:
    profile = traffic_profile(log())
    text = read(traffic_page(profile, name="log.jsonl", provenance=MADE)).text
    assert "prompt, p99" in text
    assert f"{profile.prompt.p99:,}" in text
    assert "more even than chance" in text
    assert "What caches would find" in text
    assert "shorter than a day" not in text


def test_the_frontier_is_those_that_none_beats_in_both() -> None:
    mark = Mark("any", MarkShape.CIRCLE, Tone.BLUE)
    spots = {"fast": (1, 9), "cheap": (9, 1), "middle": (3, 3), "beaten": (4, 4), "tied": (3, 5)}
    points = [ChartPoint(name=name, x=x, y=y, mark=mark, tooltip=name) for name, (x, y) in spots.items()]
    assert [point.name for point in frontier(points)] == ["fast", "middle", "cheap"]
    only = chart(points[:1], name="one", description="alone", x=Axis(name="x"), y=Axis(name="y"))
    assert "fast" in read(only).text


def test_labels_stay_inside_and_never_overlap() -> None:
    spots = [
        Spot(text=f"{place} x chip", x=100 + place % 7 * 12.0, y=100 + place // 7 * 9.0, radius=5.0)
        for place in range(42)
    ]
    inside = Box(0, 0, 400, 300)
    marks = [Box(one.x - 5, one.y - 5, one.x + 5, one.y + 5) for one in spots]
    labels = place_labels(spots, inside=inside, taken=marks)
    assert len(labels) > 5
    assert all(label.box.is_inside(inside) for label in labels)
    assert not any(one.box.meets(other.box) for one, other in combinations(labels, 2))
    assert not any(label.box.meets(mark) for label in labels for mark in marks)


@pytest.mark.parametrize("values", [[29.3, 47.6], [0.09, 1.37], [498.0, 500.0], [0.00001, 4.0], [3.0], [1.0, 60000.0]])
def test_a_scale_shows_its_values_with_round_ticks(values) -> None:
    scale = scale_for(values, start=0.0, end=100.0)
    ticks = scale.ticks()
    assert all(0 <= scale.place(value) <= 100 for value in (*values, *ticks))
    assert 2 <= len(ticks) <= 9
    assert len({tick_text(tick) for tick in ticks}) == len(ticks)
    assert scale.is_logarithmic == (max(values) / min(values) > 8)


def test_makers_differ_in_colour_and_in_shape() -> None:
    marks = [*MARKS.values(), OTHERS]
    assert len({mark.tone for mark in marks}) == len({mark.shape for mark in marks}) == len(marks)
    assert {mark.shape for mark in marks} <= {*CORNERS, MarkShape.CIRCLE}


def test_colours_can_be_read_on_light_and_on_dark() -> None:
    for theme in (LIGHT, DARK):
        colours = dict(one.removeprefix("--").split(":") for one in theme.split(";"))
        for ground in ("page", "panel"):
            for text in ("ink", "soft", "good", "bad"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        assert all(contrast(colour, colours["page"]) >= 3.0 for colour in COLOURS.values())
    assert all(contrast(colour, "#ffffff") >= 4.5 for colour in COLOURS.values())


def contrast(one: str, other: str) -> float:
    """As WCAG counts it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_option_writes_the_page_beside_the_table(run, tmp_path: Path) -> None:
    result = run("plan", "memory", "--model", "phi-4", "--hardware", "l4", "--html", "out.html")
    assert "PER CHIP" in result.stdout
    assert "wrote out.html" in result.stderr
    text = read((tmp_path / "out.html").read_text(encoding="utf-8")).text
    assert "heterodyne plan memory --model phi-4 --hardware l4 --html out.html" in text


def test_json_and_the_page_go_together(run, tmp_path: Path) -> None:
    result = run("plan", "hardware", "--model", "llama-3.1-8b", "--every-width", "--json", "--html", "out.html")
    assert json.loads(result.stdout)["choices"]
    command = "heterodyne plan hardware --model llama-3.1-8b --every-width --json --html out.html"
    assert command in read((tmp_path / "out.html").read_text(encoding="utf-8")).text


def test_a_mix_from_a_file_takes_the_option(run, tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text(run("plan", "mix", "--example").stdout)
    result = run("plan", "mix", "mix.toml", "--html", "out.html")
    assert result.exit_code == 0, result.stderr
    assert "heterodyne plan mix mix.toml --html out.html" in read((tmp_path / "out.html").read_text()).text


def test_a_log_takes_the_option(run, tmp_path: Path) -> None:
    lines = [f'{{"timestamp": {1000 * at}, "input_length": 10, "output_length": 5, "hash_ids": []}}' for at in range(9)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    result = run("plan", "traffic", "log.jsonl", "--html", "out.html")
    assert result.exit_code == 0, result.stderr
    assert "Traffic of log.jsonl" in read((tmp_path / "out.html").read_text()).text


def test_settings_that_no_plan_reads_are_not_shown(run, tmp_path: Path) -> None:
    words = ("plan", "memory", "--model", "phi-4", "--hardware", "h100-sxm", "--html", "out.html")
    result = run("--set", "gateway.port=47112", *words)
    assert result.exit_code == 0, result.stderr
    assert "47112" not in (tmp_path / "out.html").read_text()


@pytest.mark.parametrize(("file", "reason"), [("-", "name a file"), ("gone/out.html", "cannot be written")])
def test_a_page_that_cannot_be_written_is_wrong_usage(run, file, reason) -> None:
    result = run("plan", "memory", "--model", "phi-4", "--hardware", "h100-sxm", "--html", file)
    assert result.exit_code == 2
    assert reason in result.stderr
