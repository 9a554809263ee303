"""Guides that speak of a running fleet: their commands, typed in order into one, print what the guide shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.alike import missing
from tests.docs.console_blocks import DOCS, Step, steps
from tests.docs.live_guides import LiveGuide, live_guide

GUIDES = ("explain.md", "routing.md", "emulate.md", "mixed-fleet.md")  # the last one kills what the others need
# Begins a command whose output depends on a load or a moment that the guide describes in words.
OTHERWISE = {
    "make mixed-fleet": "the fixture is this command",
    "heterodyne emulate --hardware mi300x": "a server of its own; `--hardware h100` is typed below",
    "heterodyne explain --model chat --class batch": "of a fleet that is full",
    "curl -si http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' "
    "-H 'x-heterodyne-class: batch'": "of a fleet that is full",
    "sleep 6; heterodyne fleet status": "of a moment in a load",
    "tail -n 200 run/records.jsonl": "which pools the load fell on",
    "tail -n 1 run/records.jsonl": "of a request that may have stayed where it was",
    "grep stream_continued": "where the stream was on that replica",
    "curl -s http://127.0.0.1:8080/metrics": "counts of what came of the faults",
}


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveGuide]:
    with live_guide(tmp_path_factory.mktemp("guides")) as typing:
        typing.typed("heterodyne bench --model chat --rate 12 --requests 200 --ignore-eos --seed 1")
        yield typing


@pytest.mark.parametrize("name", GUIDES)
def test_what_a_guide_shows_is_printed(name: str, guide: LiveGuide) -> None:
    guide.typed("heterodyne fleet undrain --pool h100; heterodyne fleet undrain --pool h200")  # as routing.md says
    unlike: list[str] = []
    for step in steps(DOCS / "guides" / name):
        printed, lacking = _typed(guide, step)
        if lacking:
            unlike += [f"$ {step.command}", *(f"- {line}" for line in lacking), printed]
    assert not unlike, "\n".join(unlike)


def test_what_is_not_compared_is_still_in_a_guide() -> None:
    commands = [step.command for name in GUIDES for step in steps(Path(DOCS / "guides" / name))]
    assert [one for one in OTHERWISE if not any(command.startswith(one) for command in commands)] == []


def _typed(guide: LiveGuide, step: Step) -> tuple[str, list[str]]:
    """What was printed, and what the guide shows besides."""
    reason = next((why for begins, why in OTHERWISE.items() if step.command.startswith(begins)), None)
    if reason is not None and step.command.startswith(("make", "heterodyne emulate")):
        return "", []
    if step.command.startswith("grep -c"):
        guide.rest()
    if step.command.startswith("kill -9 $(cat run/*-0.pid)"):
        guide.end_servers()  # "and Ctrl-C for one that you brought back by hand"
    printed = guide.typed(step.command)
    return printed, [] if reason is not None else missing(step.shown, printed)
