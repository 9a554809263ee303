"""`heterodyne cascade`: when a cheap model will do, learned from observed answers, and what that would have kept."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.policies.cascade_command import show
from heterodyne.domain.errors import InvalidSpec

if TYPE_CHECKING:
    from heterodyne.routing.cascade.fitted_cascade import FittedCascade
    from heterodyne.routing.cascade.observed_row import ObservedRow
    from heterodyne.routing.cascade.report import CascadeOutcome
    from heterodyne.routing.cascade.risk import RiskThreshold

ROWS_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
KINDS = ("confident", "on_average")
SAVES = ("usd", "calls")
WAYS = {
    "always_cheap": "always cheap",
    "always_big": "always big",
    "router": "router (prompt alone)",
    "cascade": "cascade (judged answer)",
    "clairvoyant": "clairvoyant",
}


@click.group()
def cascade() -> None:
    """Learn when a cheap model's answer will do, within a bound on the quality that is lost.

    Each line of a file is a prompt with the quality (0 to 1) and cost of each model's answer: {"prompt": "…", "models":
    {"small": {"quality": 1, "usd": 0.0001, "ms": 420}, "large": {"quality": 1, "usd": 0.004}}, "judges":
    {"consistency": 0.25}}. Times (ms), judges, judge_usd and judge_ms may be left out.

    \b
    Examples:
      heterodyne cascade fit rows.jsonl --cheap small --big large --bound 0.05 --out cascade.json
      heterodyne cascade report later.jsonl --fitted cascade.json
      heterodyne cascade show
    """


cascade.add_command(show)


@cascade.command()
@click.argument("files", nargs=-1, required=True, type=ROWS_FILE, metavar="FILE…")
@click.option("--cheap", metavar="MODEL", help="The model that is tried; else that of --again.")
@click.option("--big", metavar="MODEL", help="The model whose quality is to be kept; else that of --again.")
@click.option(
    "--bound",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The share of the big model's quality that may be lost.",
)
@click.option(
    "--confidence",
    default=0.9,
    show_default=True,
    type=click.FloatRange(0.5, 1, max_open=True),
    help="How surely no more is lost.",
)
@click.option(
    "--kind",
    default=KINDS[0],
    show_default=True,
    type=click.Choice(KINDS),
    help="Whether the bound holds with the confidence, or on average over calibrations.",
)
@click.option(
    "--save",
    default=SAVES[0],
    show_default=True,
    type=click.Choice(SAVES),
    help="What a kept answer saves: dollars, of which long prompts cost more, or a call.",
)
@click.option("--seed", default=0, show_default=True, help="Decides which half of the prompts scores are learned from.")
@click.option("--again", type=ROWS_FILE, metavar="FITTED", help="Keep its scores; choose thresholds by these rows.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("cascade.json"),
    show_default=True,
    help="The file to write.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was chosen as JSON.")
def fit(
    *,
    files: tuple[Path, ...],
    cheap: str | None,
    big: str | None,
    bound: float,
    confidence: float,
    kind: str,
    save: str,
    seed: int,
    again: Path | None,
    out: Path,
    as_json: bool,
) -> None:
    """Learn scores from one half of the rows, choose thresholds on the other, and write both to a file.

    With --again the scores of a file stay, and thresholds are chosen by all rows: newer traffic, or another bound. The
    rows must not be those that the scores were learned from.

    \b
    Examples:
      heterodyne cascade fit rows.jsonl --cheap small --big large
      heterodyne cascade fit today.jsonl --again cascade.json --bound 0.02 --out stricter.json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.routing.cascade.fitted_cascade import encoded
    from heterodyne.routing.cascade.fitting import bounded, fit_cascade
    from heterodyne.routing.cascade.risk import BoundKind, RiskBound

    promised = RiskBound(loss_share_max=bound, confidence=confidence, kind=BoundKind(kind))
    if again is not None:
        if cheap or big:
            raise InvalidSpec("--again has its models; leave --cheap and --big out")
        known = _fitted(again)
        fitted = bounded(known, _rows(files, (known.cheap, known.big)), promised)
    elif cheap is None or big is None or cheap == big:
        raise InvalidSpec("--cheap and --big: give two models, or --again FITTED")
    else:
        fitted = fit_cascade(_rows(files, (cheap, big)), cheap, big, promised, seed=seed, saves_usd=save == SAVES[0])
    out.write_bytes(encoded(fitted))
    if as_json:
        thresholds = {"router": fitted.routed, "cascade": fitted.judged}
        print_json({"file": str(out), "bound": fitted.bound, "thresholds": thresholds, "card": fitted.card})
    else:
        print_fitted(fitted)
        click.echo(f"Written to {out}.")


@cascade.command()
@click.argument("files", nargs=-1, required=True, type=ROWS_FILE, metavar="FILE…")
@click.option(
    "--fitted", "fitted_file", required=True, type=ROWS_FILE, metavar="FITTED", help="What `fit` has written."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def report(files: tuple[Path, ...], fitted_file: Path, as_json: bool) -> None:
    """Say what a fitted cascade would have kept of the quality of these rows, and what it would have cost.

    \b
    Examples:
      heterodyne cascade report later.jsonl --fitted cascade.json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.routing.cascade.fitting import answer_risks, prompt_risks
    from heterodyne.routing.cascade.report import outcomes

    fitted = _fitted(fitted_file)
    rows = _rows(files, (fitted.cheap, fitted.big))
    judged = None
    if fitted.judged is not None and any(row.judges for row in rows):
        judged = _kept(fitted.judged, answer_risks(fitted, rows).tolist())
    routed = _kept(fitted.routed, prompt_risks(fitted, rows).tolist())
    found = outcomes(rows, fitted.cheap, fitted.big, routed=routed, judged=judged)
    if as_json:
        print_json(found)
    else:
        print_outcomes(found)


def print_fitted(fitted: "FittedCascade") -> None:
    """The thresholds and what they were chosen on."""
    from heterodyne.cli.output import print_table

    rows = [_threshold_row(WAYS["router"], fitted.routed)]
    if fitted.judged is not None:
        rows.append(_threshold_row(WAYS["cascade"], fitted.judged))
    print_table(("BY", "ROWS", "THRESHOLD", "KEPT CHEAP", "QUALITY LOST"), rows)


def print_outcomes(found: "list[CascadeOutcome]") -> None:
    """A row for each way to choose."""
    from heterodyne.cli.output import print_table

    header = ("CHOICE", "QUALITY", "KEPT", "USD/1000", "OF BIG", "BIG CALLS", "MS", "P95 MS")
    print_table(
        header,
        [
            (
                WAYS[one.name],
                f"{one.quality:.3f}",
                f"{one.quality_kept:.1%}",
                f"{1000 * one.usd_per_request:.4g}",
                f"{one.usd_share:.1%}",
                f"{one.big_call_share:.1%}",
                "-" if one.ms_mean is None else f"{one.ms_mean:.0f}",
                "-" if one.ms_p95 is None else f"{one.ms_p95:.0f}",
            )
            for one in found
        ],
    )


def _threshold_row(name: str, chosen: "RiskThreshold") -> tuple[str, ...]:
    threshold = "keeps nothing" if chosen.threshold is None else f"{chosen.threshold:.4f}"
    return (name, str(chosen.rows), threshold, f"{chosen.kept_share:.1%}", f"{chosen.loss_share:.2%}")


def _kept(chosen: "RiskThreshold", risks: list[float]) -> list[bool]:
    return [chosen.keeps(risk) for risk in risks]


def _fitted(file: Path) -> "FittedCascade":
    from heterodyne.routing.cascade.fitted_cascade import decoded

    return decoded(str(file), file.read_bytes())


def _rows(files: tuple[Path, ...], models: tuple[str, ...]) -> "list[ObservedRow]":
    from heterodyne.routing.cascade.observed_row import observed_rows

    rows = []
    for file in files:
        with file.open("rb") as lines:
            rows += observed_rows(str(file), lines, models)
    if not rows:
        raise InvalidSpec(f"{', '.join(map(str, files))}: no rows")
    return rows
