"""`heterodyne plan config`: a model, a chip and a class of work in; an engine's launch, a pool and manifests out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heterodyne.physics.hardware import Accelerator
    from heterodyne.planning.launch.kv_exchange import KvExchange
    from heterodyne.planning.launch.launch_plan import LaunchPlan
    from heterodyne.planning.launch.requirements import LaunchRequirements
    from heterodyne.planning.launch.sizing import Sizing
    from heterodyne.planning.manifests.kubernetes import Manifest

SCRIPT = "launch.sh"
POOL = "pool.toml"
KUBERNETES = "kubernetes.yaml"
FORMATS = ("all", "command", "pool", "kubernetes")


class LaunchOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    fleet_file: Path | None
    model: str | None
    hardware: str | None
    workload: str
    precision: str | None
    kv_precision: str | None
    engine: str | None
    tp: int | None
    context: int | None
    usual_context: int | None
    max_concurrency: int | None
    weights: str | None
    draft_model: str | None
    draft_weights: str | None
    kv_transfer: str | None
    role: str
    kv_store: str | None
    replicas: int
    image: str | None
    bind: str
    urls: tuple[str, ...]
    form: str
    output_dir: Path | None
    force: bool
    as_json: bool


@click.command()
@click.option(
    "--fleet",
    "fleet_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A planned fleet: every pool of it, each in a folder of its own below --output-dir.",
)
@click.option("--model", metavar="MODEL", help="A built-in name, a Hugging Face id, a config.json or a .gguf file.")
@click.option("--hardware", metavar="CHIP", help="An accelerator, as `heterodyne hardware list` has it.")
@click.option(
    "--class",
    "workload",
    default="interactive",
    show_default=True,
    metavar="CLASS",
    help="interactive, batch or background.",
)
@click.option("--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in.")
@click.option("--kv-precision", metavar="FORMAT", help="Of keys and values; else by the weights and the chip.")
@click.option(
    "--engine", metavar="ENGINE", help="The program that runs the model; else the first that runs on the chip."
)
@click.option("--tp", type=int, metavar="N", help="Chips the model is split over; else the fewest that hold it.")
@click.option(
    "--context", type=int, metavar="N", help="Tokens of the longest sequence; else 8192, or all the model takes."
)
@click.option(
    "--usual-context", type=int, metavar="N", help="Tokens of a usual sequence, where far fewer; else the longest."
)
@click.option(
    "--max-concurrency", type=int, metavar="N", help="Sequences at once; else what memory and the class allow."
)
@click.option("--weights", metavar="PLACE", help="A Hugging Face id or path to load, in the precision asked for.")
@click.option("--draft-model", metavar="MODEL", help="A small model of the same vocabulary that guesses ahead.")
@click.option("--draft-weights", metavar="PLACE", help="A Hugging Face id or path of the draft model.")
@click.option(
    "--kv-transfer",
    metavar="WAY",
    help="Let it exchange KV: nixl, example or lmcache (vLLM), sglang, slots (llama.cpp).",
)
@click.option("--role", default="both", show_default=True, metavar="ROLE", help="both, prefill or decode.")
@click.option("--kv-store", metavar="PLACE", help="The folder that example and slots leave KV in.")
@click.option("--replicas", type=int, default=1, show_default=True, metavar="N", help="Pods of the Deployment.")
@click.option("--image", metavar="IMAGE", help="Container image; else the engine's own.")
@click.option("--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where the command listens.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="A replica of the pool; may be given again.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="all", show_default=True, help="What to write.")
@click.option(
    "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write files there."
)
@click.option("--force", is_flag=True, help="Overwrite files in the output folder.")
@click.option("--json", "as_json", is_flag=True, help="Print everything, with reasons, as JSON.")
def config(**options: Any) -> None:
    """Write an engine's launch command, the pool that routes to it, and Kubernetes manifests, settings with reasons.

    Exits with 1 when the model does not fit, and names the smallest change that would.

    \b
    Examples:
      heterodyne plan config --model llama-3.1-70b --hardware mi300x --precision fp8 --tp 2 --class interactive
      heterodyne plan config --fleet fleet.toml --output-dir launch/
      heterodyne plan config --model qwen3-8b --hardware tpu-v6e --class batch --format kubernetes
      heterodyne plan config --model llama-3.1-8b --hardware h100 --kv-transfer nixl --role prefill --format command
      heterodyne plan config --model ./model.gguf --hardware m4-max --format command --output-dir launch/
    """
    from heterodyne.cli.arguments.catalogue import catalogue, own_profiles
    from heterodyne.cli.output import print_json
    from heterodyne.planning.launch.launch_plan import Site
    from heterodyne.planning.launch.registry import launch_plan
    from heterodyne.planning.launch.sizing import size

    given = LaunchOptions(**options)
    chips = catalogue()
    if given.fleet_file is not None:
        _write_launches(given, chips)
        return
    if given.model is None or given.hardware is None:
        raise click.UsageError("name a model and a chip with --model and --hardware, or a fleet file with --fleet")
    sizing = size(_requirements(given, chips), chips, measured=own_profiles())
    plan = launch_plan(sizing, Site(address=given.bind))
    objects, notes = _objects(sizing, given.form, replicas=given.replicas, image=given.image)
    files = _files(sizing, plan, objects, notes=(*sizing.notes, *notes), form=given.form, urls=given.urls)
    if given.output_dir is not None:
        written = write_files(given.output_dir, files, is_forced=given.force)
        click.echo("\n".join(f"wrote {path}" for path in written), err=True)
    if given.as_json:
        print_json(_answer(sizing, plan, objects, files, notes))
    elif given.output_dir is None:
        _print(files)


def _write_launches(options: LaunchOptions, chips: "Mapping[str, Accelerator]") -> None:
    """Of every pool of a fleet file, and the settings for all of them."""
    from heterodyne.cli.arguments.catalogue import own_profiles
    from heterodyne.cli.plan.config_fleet import SETTINGS, check_alone, fleet_requirements, settings_text
    from heterodyne.planning.launch.launch_plan import Site
    from heterodyne.planning.launch.registry import launch_plan
    from heterodyne.planning.launch.sizing import size

    check_alone(options.model, options.hardware)
    folder, measured = options.output_dir, own_profiles()
    if options.fleet_file is None or folder is None:
        raise click.UsageError("--fleet writes several files: say where with --output-dir")
    fleet, wanted = fleet_requirements(options.fleet_file, chips, usual_context=options.usual_context)
    entries, written = {}, []
    for name, requirements in wanted.items():
        sizing = size(requirements, chips, measured=measured)
        plan = launch_plan(sizing, Site(address=options.bind))
        objects, notes = _objects(sizing, options.form, replicas=fleet.pools[name].replicas, image=options.image)
        files = _files(sizing, plan, objects, notes=(*sizing.notes, *notes), form=options.form, urls=options.urls)
        entries[name] = files.pop(POOL, "")
        written += write_files(folder / name, files, is_forced=options.force)
    if any(entries.values()):
        written += write_files(folder, {SETTINGS: settings_text(fleet, entries)}, is_forced=options.force)
    click.echo("\n".join(f"wrote {path}" for path in written), err=True)


def _requirements(options: LaunchOptions, chips: "Mapping[str, Accelerator]") -> "LaunchRequirements":
    from heterodyne.cli.arguments.layout import member
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.physics.engine_kind import EngineKind
    from heterodyne.physics.precision import Precision
    from heterodyne.planning.launch.requirements import LaunchRequirements
    from heterodyne.planning.workload_class import WorkloadClass

    assert options.model is not None, "checked before"
    assert options.hardware is not None, "checked before"
    spec = model_from(options.model)
    published = _published(options.model)
    engine, precision, kv_precision = options.engine, options.precision, options.kv_precision
    if engine is None and (options.weights or published or "").endswith(".gguf"):
        engine = EngineKind.LLAMACPP
    draft = options.draft_model
    return LaunchRequirements(
        model=spec,
        accelerator=accelerator(options.hardware, chips),
        workload=member(WorkloadClass, "class", options.workload),
        precision=spec.checkpoint_precision if precision is None else member(Precision, "precision", precision),
        kv_precision=None if kv_precision is None else member(Precision, "precision", kv_precision),
        engine=None if engine is None else member(EngineKind, "engine", engine),
        tp=options.tp,
        context_tokens=options.context,
        usual_tokens=options.usual_context,
        sequences=options.max_concurrency,
        weights=options.weights,
        published=published,
        draft=None if draft is None else model_from(draft),
        draft_weights=options.draft_weights or (None if draft is None else _published(draft)),
        kv=_exchange(options),
    )


def _exchange(options: LaunchOptions) -> "KvExchange | None":
    from heterodyne.cli.arguments.layout import member
    from heterodyne.domain.replica_role import ReplicaRole
    from heterodyne.planning.launch.kv_exchange import KvExchange

    role = member(ReplicaRole, "role", options.role)
    if options.kv_transfer is None:
        if role is not ReplicaRole.BOTH:
            raise InvalidSpec("role: a prefill or decode replica exchanges KV; say how with --kv-transfer")
        return None
    return KvExchange(transfer=options.kv_transfer, role=role, store=options.kv_store)


def _published(word: str) -> str | None:
    """Where the checkpoint of a model given by file, folder or hub id lies; None for a built-in name."""
    path = Path(word).expanduser()
    if path.suffix.lower() == ".gguf":
        return str(path.resolve())
    if path.suffix.lower() == ".json":
        return str(path.resolve().parent)
    if (path / "config.json").is_file():
        return str(path.resolve())
    return word if "/" in word else None


def _objects(
    sizing: "Sizing", form: str, *, replicas: int, image: str | None
) -> tuple[tuple["Manifest", ...], tuple[str, ...]]:
    """The manifests; where a cluster cannot run the engine, none and the reason, unless they alone were asked for."""
    from heterodyne.domain.errors import PlanImpossible
    from heterodyne.planning.manifests.kubernetes import manifests

    if form in ("command", "pool"):
        return (), ()
    try:
        return manifests(sizing, replicas=replicas, image=image), ()
    except PlanImpossible as error:
        if form == "kubernetes":
            raise
        return (), (f"no manifests: {error.message}",)


def _files(
    sizing: "Sizing",
    plan: "LaunchPlan",
    objects: tuple["Manifest", ...],
    *,
    notes: tuple[str, ...],
    form: str,
    urls: tuple[str, ...],
) -> dict[str, str]:
    """Texts by file name."""
    from heterodyne.planning.launch.launch_plan import script
    from heterodyne.planning.manifests.kubernetes import manifests_notes, manifests_text
    from heterodyne.planning.manifests.pool_entry import pool_entry

    files: dict[str, str] = {}
    if form in ("all", "command"):
        files |= {SCRIPT: script(plan, notes), **plan.files}
    if form in ("all", "pool"):
        files[POOL] = pool_entry(sizing, plan, urls=urls)
    if objects:
        files[KUBERNETES] = manifests_text(objects, (plan.documentation, *notes, *plan.notes, *manifests_notes(sizing)))
    return files


def _answer(
    sizing: "Sizing",
    plan: "LaunchPlan",
    objects: tuple["Manifest", ...],
    files: dict[str, str],
    notes: tuple[str, ...],
) -> dict[str, object]:
    layout = sizing.layout
    return {
        "model": layout.model.name,
        "hardware": layout.accelerator.name,
        "class": sizing.workload,
        "precision": layout.precision,
        "choices": list(sizing.reasons.values()),
        "argv": plan.argv,
        "environment": {one.name: one.value for one in plan.environment},
        "image": plan.image,
        "port": plan.port,
        "health_path": plan.health_path,
        "metrics_path": plan.metrics_path,
        "predicted": {"served": sizing.served, "basis": sizing.basis},
        "per_chip": sizing.budget,
        "manifests": objects,
        "files": files,
        "notes": (plan.documentation, *sizing.notes, *notes, *plan.notes),
    }


def _print(files: dict[str, str]) -> None:
    """One file as it is, several under their names."""
    if len(files) == 1:
        click.echo(next(iter(files.values())), nl=False)
        return
    for name, text in files.items():
        click.echo(f"==> {name} <==\n{text}")


def write_files(folder: Path, files: dict[str, str], *, is_forced: bool) -> list[Path]:
    """Write every file or none; raises `InvalidSpec` rather than overwrite."""
    paths = {folder / name: text for name, text in files.items()}
    existing = [str(path) for path in paths if path.exists()]
    if existing and not is_forced:
        raise InvalidSpec(f"output-dir: {', '.join(existing)} exist already; name another folder, or say --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in paths.items():
            path.write_text(text, encoding="utf-8")
            if path.name == SCRIPT:
                path.chmod(0o755)
    except OSError as error:
        raise InvalidSpec(f"output-dir: {error.filename}: cannot be written: {error.strerror}") from error
    return list(paths)
