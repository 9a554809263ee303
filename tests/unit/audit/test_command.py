"""`heterodyne audit`: verdicts, places, exit codes; entries for people and machines."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heterodyne.audit.key import AuditKey, open_key
from heterodyne.audit.settings import AuditSettings
from heterodyne.cli.main import COMMANDS, cli
from heterodyne.domain.audit import ChangeEntry, GapEntry
from tests.support.audits import append, fill, lines_of, write_lines

Run = Callable[..., Result]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A log with its key beside it."""
    folder = tmp_path / "log"
    key = open_key(folder / "audit.key", may_create=True)
    fill(folder, key, 10)
    change = ChangeEntry(at=1_700_000_100.0, who="k_operator", what="keys.revoke", subject="k_1", after="=cmd()")
    append(folder, key, change, GapEntry(at=1.0, worker="worker-0", requests=3))
    return folder


@pytest.fixture
def key(place: Path) -> AuditKey:
    return open_key(place / "audit.key", may_create=False)


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setitem(COMMANDS, "audit", ("heterodyne.cli.audit.command", "Verify the audit log."))

    def invoke(command: str, *words: str) -> Result:
        return CliRunner().invoke(cli, ["audit", command, "--dir", str(place), *words], prog_name="heterodyne")

    return invoke


def test_an_intact_log_is_said_to_be_so(run: Run) -> None:
    result = run("verify")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("14 entries in 2 segments, all as they were written")


def test_a_broken_log_ends_with_1_and_the_places(run: Run, place: Path) -> None:
    lines = lines_of(place)
    lines[2] = lines[2].replace(b"acme", b"evil")
    write_lines(place, lines)
    result = run("verify")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "audit-000001.jsonl:3: entry 3 altered: a line not written with the audit key" in result.stderr


def test_a_verdict_as_json_has_the_places(run: Run, place: Path) -> None:
    assert json.loads(run("verify", "--json").stdout)["findings"] == []
    lines = lines_of(place)
    del lines[2]
    write_lines(place, lines)
    result = run("verify", "--json")
    assert result.exit_code == 1
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["damage"], finding["line"], finding["seq"]) == ("missing", 3, 3)


def test_an_anchor_that_was_made_is_held_against_the_log(run: Run, place: Path, tmp_path: Path) -> None:
    anchors = tmp_path / "anchors"
    assert run("anchor", "--to", str(anchors)).exit_code == 0
    assert "1 anchor agrees" in run("verify", "--anchors", str(anchors)).stdout
    assert json.loads(run("anchor").stdout)["seq"] == 14
    shutil.rmtree(place / "spool", ignore_errors=True)
    for path in place.glob("*.jsonl"):
        path.unlink()
    (place / "head").unlink()
    result = run("verify", "--anchors", str(anchors))
    assert result.exit_code == 1
    assert "truncated" in result.stderr


def test_a_folder_without_a_log_is_no_proof_of_anything(run: Run, place: Path) -> None:
    for path in place.glob("*.jsonl"):
        path.unlink()
    (place / "head").unlink()
    result = run("verify")
    assert result.exit_code == 1
    assert "there is no audit log" in result.stderr


def test_a_key_that_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    result = run("verify", "--key-file", str(tmp_path / "none"))
    assert result.exit_code == 1
    assert "the audit key is not there" in result.stderr


def test_one_request_is_found(run: Run) -> None:
    (found,) = json.loads(run("show", "--request", "request-4", "--json").stdout)
    assert found["entry"]["id"] == "request-4"
    assert found["entry"]["version"] == "v1"


def test_changes_are_shown_as_a_table(run: Run) -> None:
    header, row = run("show", "--changes").stdout.splitlines()
    assert header.split() == ["ENTRY", "TIME", "WHO", "WHAT", "OF", "RESULT"]
    assert row.split() == ["13", "2023-11-14", "22:15:00", "k_operator", "keys.revoke", "k_1", "done"]


def test_entries_are_chosen_by_project_and_time(run: Run) -> None:
    assert json.loads(run("show", "--project", "other", "--json").stdout) == []
    some = run("show", "--project", "acme/search", "--since", "2023-11-14T22:13:25", "--until", "2023-11-14T22:13:28Z")
    assert [line.split()[6] for line in some.stdout.splitlines()[1:]] == ["request-5", "request-6", "request-7"]
    assert run("show", "--since", "yesterday").exit_code == 2


def test_everything_is_shown_and_the_last_are_kept(run: Run) -> None:
    shown = run("show").stdout
    assert "segment 1 begins" in shown
    assert "3 requests without an entry" in shown
    assert len(run("show", "--limit", "3").stdout.splitlines()) == 4


def test_an_export_as_lines_has_every_entry_with_its_place(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    assert run("export", "--output", str(output)).exit_code == 0
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, 15))
    assert rows[1]["id"] == "request-1"


def test_an_export_as_a_table_runs_no_formula(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", "--format", "csv").stdout)))
    assert len(rows) == 14
    assert rows[12]["after"] == "'=cmd()"
    assert rows[1]["model"] == "smollm2-135m"


def test_entries_of_a_broken_log_are_shown_with_a_warning(run: Run, place: Path) -> None:
    (place / "head").unlink()
    result = run("show")
    assert result.exit_code == 0
    assert "not as it was written" in result.stderr


def test_a_body_can_be_held_against_the_log(run: Run, key: AuditKey, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b"{}")
    assert run("hash", "--project", "acme/search", str(body)).stdout.strip() == (
        key.content.hmac("acme/search", "prompt", (b"{}",))
    )
    assert run("hash", "--project", "acme/search", "--answer", str(body)).stdout.strip() == (
        key.content.hmac("acme/search", "answer", (b"{}",))
    )


def test_a_broken_log_can_be_taken_up_again(run: Run, place: Path, key: AuditKey) -> None:
    write_lines(place, lines_of(place, 2)[:-1], 2)
    result = run("resume")
    assert result.exit_code == 0
    assert result.stdout == "the log goes on with entry 16 in segment 3\n"
    fill(place, key, 1, AuditSettings(fsync=False))
    assert "was taken up again with entry 15" in run("verify").stderr
    assert run("verify", "--from-segment", "3").exit_code == 0


def test_no_secret_is_printed(run: Run, place: Path) -> None:
    secret = (place / "audit.key").read_text().strip()
    for words in (("verify", "--json"), ("show", "--json"), ("export",), ("anchor",)):
        assert secret not in run(*words).output
