"""`heterodyne calibrate`: measure a live replica for a few minutes; every plan afterwards knows how fast it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, structs

from heterodyne.cli.arguments.layout import layout_from, layout_options
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.bench.calibration.measure_point import CalibrationTarget
    from heterodyne.bench.calibration.measure_replica import Watcher
    from heterodyne.bench.models import EndpointModel
    from heterodyne.physics.memory import Layout
    from heterodyne.physics.profile import Profile
    from heterodyne.planning.calibration.calibration import Calibration, MeasuredPoint
    from heterodyne.planning.calibration.points import CalibrationLimits

ASK_TIMEOUT_S = 10.0  # for the list of models


class CalibrateOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    url: str
    hardware: str
    model: str
    precision: str | None
    kv_precision: str
    tp: int
    engine: str
    engine_version: str | None
    engine_model: str | None
    api_key_env: str | None
    ca_file: str | None
    points: int
    context_max: int | None
    concurrency_max: int | None
    budget_s: float
    output: Path | None
    force: bool
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("url")
@layout_options
@click.option("--engine-version", metavar="VERSION", help="Of the engine; else the profile speaks for all.")
@click.option("--engine-model", metavar="NAME", help="The model's name there, where it serves several.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the endpoint's key.")
@click.option("--ca-file", type=click.Path(exists=True, dir_okay=False), help="Certificate authorities to trust, PEM.")
@click.option("--points", type=click.IntRange(6, 64), default=12, show_default=True, help="Loads to measure.")
@click.option("--context-max", type=int, metavar="N", help="Tokens of the longest sequence; else 16384 at most.")
@click.option("--concurrency-max", type=int, metavar="N", help="Requests at once; else 64, or 4 for llama.cpp.")
@click.option("--budget-s", type=float, default=300.0, show_default=True, metavar="S", help="Time for all points.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of profiles to put it in; else the first of physics.profiles, else the one plans read by default.",
)
@click.option("--force", is_flag=True, help="Keep the profile even where it predicts no better than before.")
@click.option("--dry-run", is_flag=True, help="Only list the points, for the speed we expect; send no load.")
@click.option("--json", "as_json", is_flag=True, help="Print profile and points as JSON.")
def calibrate(**options: Any) -> None:
    """Measure a live OpenAI-compatible endpoint with a short burst and keep a profile that plans then use.

    The endpoint should be one replica, idle otherwise. Exits with 1 when the fit predicts points it has not seen no
    better than what we had; the profile is then not kept.

    \b
    Examples:
      heterodyne calibrate http://10.0.0.11:8000 --hardware h100-sxm --model llama-3.1-70b --precision fp8 --tp 2
      heterodyne calibrate http://127.0.0.1:8080 --hardware cpu-arm --model smollm2-135m --engine llamacpp --points 8
      heterodyne calibrate http://10.0.0.11:8000 --hardware h100-sxm --model llama-3.1-8b --dry-run
    """
    _calibrate(CalibrateOptions(**options))


def _calibrate(options: CalibrateOptions) -> None:
    import time
    from datetime import UTC, datetime

    import uvloop

    from heterodyne.bench.calibration.measure_point import CalibrationTarget
    from heterodyne.cli.arguments.catalogue import own_profiles_files
    from heterodyne.cli.calibrate.calibration_table import print_points
    from heterodyne.cli.output import print_json
    from heterodyne.planning.calibration.calibration import calibrate as fit_profile
    from heterodyne.planning.calibration.points import CalibrationLimits, choose_points

    layout = layout_from(
        model=options.model,
        hardware=options.hardware,
        precision=options.precision,
        kv_precision=options.kv_precision,
        tp=options.tp,
        engine=options.engine,
    )
    path = options.output or own_profiles_files()[0]
    prior = _prior(layout, options.engine_version)
    target = CalibrationTarget(
        url=options.url,
        model="",
        api_key=_key(options.api_key_env),
        ca_file=options.ca_file,
        seed=time.time_ns() % 2**32,
    )
    served = uvloop.run(_served(target, layout, options.engine_model))
    limits = CalibrationLimits(
        points=options.points,
        budget_s=options.budget_s,
        context_tokens_max=_least(options.context_max, served.max_model_len),
        concurrency_max=options.concurrency_max,
    )
    if options.dry_run:
        chosen = choose_points(layout, prior, limits)
        print_json(chosen) if options.as_json else print_points(chosen)
        return
    measured = uvloop.run(_measure(structs.replace(target, model=served.id), layout, prior, limits))
    day = datetime.now(UTC).date().isoformat()
    found = fit_profile(
        layout,
        prior,
        measured,
        engine_version=options.engine_version,
        source=f"heterodyne calibrate, {layout.model.name}, {day}",
    )
    _finish(found, path, force=options.force, as_json=options.as_json)


def _prior(layout: "Layout", engine_version: str | None) -> "Profile":
    """Without the operator's earlier profiles: what is kept follows from this run alone."""
    from heterodyne.physics.profile_catalogue import profile_for

    return profile_for(
        layout.model,
        layout.accelerator,
        engine=layout.engine,
        precision=layout.precision,
        tp=layout.tp,
        engine_version=engine_version,
    ).profile


def _key(variable: str | None) -> str | None:
    import os

    from heterodyne.domain.errors import InvalidSpec

    if variable is None:
        return None
    if not os.environ.get(variable):
        raise InvalidSpec(f"api-key-env: the environment variable {variable} is not set")
    return os.environ[variable]


async def _served(target: "CalibrationTarget", layout: "Layout", asked: str | None) -> "EndpointModel":
    import time

    from heterodyne.bench.endpoint import parse_endpoint
    from heterodyne.bench.models import served_model
    from heterodyne.physics.model_shapes import hugging_face_ids

    return await served_model(
        parse_endpoint(target.url, api_key=target.api_key, ca_file=target.ca_file),
        asked=asked,
        names=(layout.model.name, *hugging_face_ids(layout.model.name)),
        timeout_s=ASK_TIMEOUT_S,
        clock=time.perf_counter,
    )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


async def _measure(
    target: "CalibrationTarget", layout: "Layout", prior: "Profile", limits: "CalibrationLimits"
) -> "tuple[MeasuredPoint, ...]":
    import time

    from heterodyne.bench.calibration.measure_replica import measure_replica

    click.echo(f"one request alone to {target.model}, to learn its speed", err=True)
    clock = time.perf_counter
    return await measure_replica(target, layout, prior, limits, clock=clock, watcher=_watcher())


def _watcher() -> "Watcher":
    """One line on stderr for each point."""
    from heterodyne.bench.calibration.measure_replica import Missed, Watcher
    from heterodyne.planning.calibration.points import CalibrationPoint

    def begun(points: tuple[CalibrationPoint, ...]) -> None:
        click.echo(f"{counted(len(points), 'point')}", err=True)

    def answered(one: "MeasuredPoint") -> None:
        times = f"first token {one.ttft_s * 1000:.0f} ms, then {one.itl_s * 1000:.2f} ms a token"
        click.echo(f"  {_in_words(one.point)}: {times}", err=True)

    def missed(one: Missed) -> None:
        click.echo(f"  {_in_words(one.point)}: not measured: {one.reason}", err=True)

    def _in_words(point: CalibrationPoint) -> str:
        return f"{point.concurrency} at once, {point.prompt_tokens} tokens in, {point.output_tokens} out"

    return Watcher(on_chosen=begun, on_measured=answered, on_missed=missed)


def _finish(found: "Calibration", path: Path, *, force: bool, as_json: bool) -> None:
    """Store the profile where it predicts better, and report."""
    from heterodyne.cli.calibrate.calibration_table import calibration_json, print_calibration
    from heterodyne.cli.output import print_json
    from heterodyne.registry.profile_store import store_profile

    is_kept = found.is_better or force
    replaced = store_profile(path, found.profile) if is_kept else None
    if as_json:
        print_json(calibration_json(found, stored_in=str(path) if is_kept else None))
    else:
        print_calibration(found)
    if replaced is not None:
        click.echo(f"replaces: {replaced.source}", err=True)
    if is_kept:
        click.echo(f"kept in {path}{_reading_hint(path)}", err=True)
        return
    click.echo("not kept: what we had before predicts these points as well; --force keeps it anyway", err=True)
    click.get_current_context().exit(1)


def _reading_hint(path: Path) -> str:
    """A file of the operator's choosing is read only once the settings name it."""
    from heterodyne.cli.arguments.catalogue import own_profiles_files

    is_read = path.absolute() in [one.absolute() for one in own_profiles_files()]
    return "" if is_read else "; plans read it once physics.profiles of the settings names it"
