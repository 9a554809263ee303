"""Keeps the sample output in guides true: every command of theirs that needs nothing but this package is run again."""

import re
import shlex

from click.testing import CliRunner

from heterodyne.cli.main import cli

GUIDES = ("choose-hardware.md", "plan-memory.md")
BLOCK = re.compile(r"^```console\n(\$ heterodyne (?:plan|hardware) [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = (".csv.gz", ".jsonl.gz", ".toml", ".html", ".gguf", ".json")
CUT = "…\n"  # ends an output that the guide shows only the beginning of


def refreshed(guide: str) -> str:
    """The guide with the output its commands give now; one that reads a file is left as it is."""
    return BLOCK.sub(_run, guide)


def _run(block: re.Match[str]) -> str:
    command, shown = block.groups()
    words = shlex.split(command.removeprefix("$ heterodyne "))
    if shown.endswith(CUT) or any(word.endswith(FILES) for word in words):
        return block.group()
    answer = CliRunner().invoke(cli, words)
    return f"```console\n{command}\n{answer.output}```"
