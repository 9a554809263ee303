"""Keeps the sample output in guides true: every command of theirs that needs nothing but this package is run again."""

import re
import shlex
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from heterodyne.cli.main import cli

GUIDES = ("choose-hardware.md", "plan-memory.md", "launch-an-engine.md", "plan-a-mix.md", "plan-a-fleet.md")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^\$ heterodyne ((?:plan|hardware|simulate) (?:[^\n]|(?<=\\\\)\n)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE
)
ELSEWHERE = (".csv", ".gz", ".toml", ".gguf", ".json")  # files that a command reads, and the guide may not have
WRITTEN = (
    "--fleet-file",
    "--write-problem",
    "--html",
    "--output-dir",
    "--weights",
    ">",
)  # before those it does not read
COLUMNS = "100"  # as wide as a guide is
CUT = "…\n"  # ends an output that the guide shows only the beginning of
SPEED = re.compile(r"^.* requests simulated a second\n", re.MULTILINE)  # of this machine, at this moment


def refreshed(guide: str) -> str:
    """The guide with the output its commands give now, one after another in a folder of their own.

    A command that reads a file which none before it wrote keeps the output it has.
    """
    with TemporaryDirectory() as folder, chdir(folder):
        return BLOCK.sub(lambda block: f"```console\n{COMMAND.sub(_run, block.group(1))}```", guide)


def _run(example: re.Match[str]) -> str:
    words, shown = shlex.split(example.group(1).replace("\\\n", " ")), example.group(2)
    read = [word for before, word in zip(["", *words], words, strict=False) if before not in WRITTEN]
    lacks_file = any(word.endswith(ELSEWHERE) and not Path(word).exists() for word in read)
    if lacks_file or (shown.endswith(CUT) and ">" not in words):
        return example.group()
    words, target = _redirected(words)
    result = CliRunner(env={"COLUMNS": COLUMNS}).invoke(cli, words, prog_name="heterodyne")
    if target:
        Path(target).write_text(result.stdout, encoding="utf-8")
    output = result.stderr if target else SPEED.sub("", result.output)
    return f"$ heterodyne {example.group(1)}\n{output}"


def _redirected(words: list[str]) -> tuple[list[str], str | None]:
    """The command, and the file its output goes to."""
    if ">" not in words:
        return words, None
    place = words.index(">")
    return words[:place], words[place + 1]
