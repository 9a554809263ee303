"""A calibration as a table for people, and as JSON."""

from typing import TYPE_CHECKING

import click

from heterodyne.cli.output import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heterodyne.planning.calibration.calibration import Accuracy, Calibration
    from heterodyne.planning.calibration.points import CalibrationPoint

HEADER = ("AT ONCE", "PROMPT", "OUTPUT", "TTFT MS", "BEFORE", "NOW", "ITL MS", "BEFORE", "NOW")


def print_points(points: "Sequence[CalibrationPoint]") -> None:
    """What would be measured."""
    print_table(
        ("AT ONCE", "PROMPT", "OUTPUT"),
        [(str(one.concurrency), str(one.prompt_tokens), str(one.output_tokens)) for one in points],
    )


def print_calibration(found: "Calibration") -> None:
    """Each point with the error of the earlier prediction, and of a fit to the other points alone."""
    rows = []
    for one in found.compared:
        measured = one.measured
        rows.append(
            (
                str(measured.point.concurrency),
                f"{measured.prompt_tokens:.0f}",
                f"{measured.output_tokens:.0f}",
                f"{measured.ttft_s * 1000:.0f}",
                _error(one.before.ttft_s, measured.ttft_s),
                _error(one.left_out.ttft_s, measured.ttft_s),
                f"{measured.itl_s * 1000:.2f}",
                _error(one.before.itl_s, measured.itl_s),
                _error(one.left_out.itl_s, measured.itl_s),
            )
        )
    print_table(HEADER, rows)
    click.echo()
    click.echo(f"before: {_in_words(found.before)}")
    click.echo(f"now: {_in_words(found.left_out)}, on points the fit has not seen")


def calibration_json(found: "Calibration", *, stored_in: str | None) -> dict[str, object]:
    """As one object; `stored_in` is None when the profile was not kept."""
    return {
        "profile": found.profile,
        "stored_in": stored_in,
        "is_better": found.is_better,
        "error_before": found.before,
        "error_left_out": found.left_out,
        "points": found.compared,
    }


def _error(said_s: float, measured_s: float) -> str:
    return f"{said_s / measured_s - 1:+.0%}"


def _in_words(accuracy: "Accuracy") -> str:
    return f"TTFT off by {accuracy.ttft:.0%}, ITL by {accuracy.itl:.0%} in the mean"
