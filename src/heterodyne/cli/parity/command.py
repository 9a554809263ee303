"""`heterodyne parity`: whether the builds of a version say what it says, as nearly as their precision allows."""

from collections.abc import Sequence
from pathlib import Path

import click

from heterodyne.cli.invocation import Invocation, pass_invocation


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.option("--format", "format_", help="Only artifacts of this format.")
@click.option("--precision", help="Only artifacts of this precision; of pools, what they are judged as.")
@click.option("--pool", "pools", multiple=True, metavar="POOL", help="Judge its replicas, as they serve; repeat.")
@click.option(
    "--texts", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="One text a line, in place of ours."
)
@click.option("--json", "as_json", is_flag=True, help="Print the artifacts with their verdicts as JSON.")
@pass_invocation
def parity(
    invocation: Invocation,
    *,
    name: str,
    format_: str | None,
    precision: str | None,
    pools: tuple[str, ...],
    texts: Path | None,
    as_json: bool,
) -> None:
    """Run every artifact of a version beside its canonical one, on the same texts, and keep the verdicts.

    An artifact that is further off than its precision explains does not serve. Exits with 1 where one is. With --pool,
    replicas of vLLM and llama.cpp are asked as they run; nothing of that is kept.

    \b
    Examples:
      heterodyne parity smollm2-135m
      heterodyne parity smollm2-135m@v1 --format gguf --precision q8_0
      heterodyne parity smollm2-135m --texts our-prompts.txt --json
      heterodyne parity smollm2-135m --pool chat-h100 --pool chat-cpu
    """
    from heterodyne.cli.models.stepping import stepping
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json
    from heterodyne.cli.parity.verdict_table import print_verdicts
    from heterodyne.domain.artifact import StoredArtifact
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.parity.judge import judge_version
    from heterodyne.registry.reference.texts import read_texts

    chosen = read_texts(texts)
    if pools:
        _judge_pools(invocation, name, pools, precision, chosen, as_json=as_json)
        return

    async def act(catalog: Catalog) -> list[StoredArtifact]:
        version = await catalog.version(name)
        artifacts = [
            one
            for one in await catalog.artifacts(version)
            if format_ in (None, str(one.artifact.format)) and precision in (None, one.artifact.precision)
        ]
        with stepping(f"judging {version.name}", is_json=as_json) as on_step:
            return await judge_version(catalog, version, artifacts, texts=chosen, on_step=on_step)

    judged = with_catalog(invocation.settings(), act)
    if as_json:
        print_json(judged)
    else:
        print_verdicts(judged)
    if any(not verdict.has_passed for one in judged for verdict in one.verdicts):
        raise SystemExit(1)


def _judge_pools(
    invocation: Invocation,
    name: str,
    pools: Sequence[str],
    precision: str | None,
    texts: Sequence[str],
    *,
    as_json: bool,
) -> None:
    from heterodyne.cli.models.stepping import stepping
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json
    from heterodyne.cli.parity.pools import served_replicas
    from heterodyne.cli.parity.verdict_table import print_served
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.parity.served import ServedVerdict, judge_served

    settings = invocation.settings()
    replicas = served_replicas(settings, pools, precision)

    async def act(catalog: Catalog) -> list[ServedVerdict]:
        version = await catalog.version(name)
        with stepping(f"judging {', '.join(pools)}", is_json=as_json) as on_step:
            return await judge_served(catalog, version, replicas, texts=texts, on_step=on_step)

    judged = with_catalog(settings, act)
    if as_json:
        print_json(judged)
    else:
        print_served(judged)
    if any(not one.verdict.has_passed for one in judged):
        raise SystemExit(1)
