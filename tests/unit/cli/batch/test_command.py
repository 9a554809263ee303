"""`batch` against a small real HTTP server: what it sends, what it refuses to send, how it ends."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from heterodyne.cli.batch import watch
from heterodyne.cli.batch.batch_client import BatchClient
from heterodyne.cli.batch.input_file import BatchInput, UploadForm
from heterodyne.cli.batch.watch import BatchWatch
from heterodyne.cli.gateway_client import GatewayUnreachable
from heterodyne.domain.errors import CallerError

LINE = '{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": []}}\n'
ANSWERS = b'{"custom_id": "a"}\n'
NO_GATEWAY = "http://127.0.0.1:9"


def told(**changes: Any) -> dict[str, Any]:
    batch = {
        "id": "batch_1",
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "file-1",
        "completion_window": "24h",
        "status": "completed",
        "created_at": 1_700_000_000,
        "expires_at": 1_700_086_400,
        "request_counts": {"total": 2, "completed": 2, "failed": 0},
        "output_file_id": "file-out",
        "error_file_id": None,
        "errors": None,
        "heterodyne": {"expected_at": None, "is_late": False},
    }
    return batch | changes


RUNNING = told(status="in_progress", output_file_id=None, request_counts={"total": 50, "completed": 20, "failed": 1})
LATE = RUNNING | {"heterodyne": {"expected_at": 1_700_090_000, "is_late": True}}


class Gateway(ThreadingHTTPServer):
    """Answers with what the test put on it, the last again and again, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.batches: list[dict[str, Any]] = [told()]
        self.listed: list[dict[str, Any]] = []
        self.contents = {"file-out": ANSWERS, "file-bad": b'{"custom_id": "b"}\n'}
        self.cut_bytes = 0  # of a content that is announced and never comes
        self.refusals: dict[str, tuple[int, str]] = {}
        self.asked: list[tuple[str, bytes]] = []
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Gateway

    def log_message(self, *_: object) -> None:
        pass

    def do(self) -> None:
        gateway, asked = self.server, f"{self.command} {self.path}"
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        gateway.asked.append((asked, body))
        gateway.keys.add(self.headers["authorization"])
        if asked in gateway.refusals:
            status, message = gateway.refusals[asked]
            self.answer(status, json.dumps({"error": {"message": message}}).encode())
        elif asked == "POST /v1/files":
            self.answer(200, b'{"id": "file-1"}')
        elif found := re.fullmatch(r"GET /v1/files/(.*)/content", asked):
            self.answer(200, gateway.contents[found[1]], gateway.cut_bytes)
        elif found := re.fullmatch(r"GET /v1/batches\?limit=(\d+)(?:&after=(.*))?", asked):
            ids = [one["id"] for one in gateway.listed]
            start = ids.index(found[2]) + 1 if found[2] else 0
            end = start + int(found[1])
            page = {"data": gateway.listed[start:end], "has_more": end < len(ids)}
            self.answer(200, json.dumps(page).encode())
        else:
            one = gateway.batches.pop(0) if len(gateway.batches) > 1 else gateway.batches[0]
            self.answer(200, json.dumps(one).encode())

    do_GET = do_POST = do_DELETE = do

    def answer(self, status: int, body: bytes, more_bytes: int = 0) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body) + more_bytes))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def requests(tmp_path: Path) -> str:
    (tmp_path / "in.jsonl").write_text(LINE * 2)
    return "in.jsonl"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_S", 0.001)
    monkeypatch.setattr(watch, "LOOK_LATER_S", 0.001)


def test_a_file_is_sent_and_its_batch_made(run, gateway: Gateway, requests: str) -> None:
    words = ("--metadata", "job=nightly", "--metadata", "of=a=b", "--window", "7d", "--api-key", "k")
    result = run("batch", "submit", requests, "--url", gateway.url, *words)
    assert (result.exit_code, result.stdout) == (0, "batch_1\n")
    (_, form), (_, made) = gateway.asked
    assert b'name="purpose"\r\n\r\nbatch\r\n' in form
    assert b'name="file"; filename="in.jsonl"' in form
    assert (LINE * 2).encode() in form
    assert json.loads(made) == {
        "input_file_id": "file-1",
        "endpoint": "/v1/chat/completions",
        "completion_window": "7d",
        "metadata": {"job": "nightly", "of": "a=b"},
    }
    assert gateway.keys == {"Bearer k"}


def test_the_address_comes_from_the_settings(run, gateway: Gateway, requests: str) -> None:
    assert run("--set", f"gateway.port={gateway.server_address[1]}", "batch", "submit", requests).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        ("", (), "in.jsonl is empty"),
        ("\n \n", (), "in.jsonl is empty"),
        ("\nhello\n", (), "line 2 is not JSON"),
        ('"hello"\n', (), "line 1 is not a request of a batch"),
        ("\udcff\n", (), "line 1 is not JSON"),
        ("{}\n", (), "line 1 has no url; name one, for example --endpoint"),
        (LINE, ("--endpoint", "/v1/embeddings"), "line 1 is for /v1/chat/completions, and --endpoint says"),
        (LINE, ("--metadata", "job"), '"job" is not KEY=VALUE'),
    ],
)
def test_what_cannot_be_a_batch_is_not_sent(run, tmp_path: Path, text: str, words: tuple[str, ...], why: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("batch", "submit", "in.jsonl", "--url", NO_GATEWAY, *words)
    assert result.exit_code == 2
    assert why in result.stderr


def test_a_file_that_is_not_there_is_wrong_usage(run) -> None:
    result = run("batch", "submit", "nowhere.jsonl", "--url", NO_GATEWAY)
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr


def test_no_gateway_is_told_with_how_to_start_one(run, requests: str) -> None:
    result = run("batch", "submit", requests, "--url", NO_GATEWAY)
    assert result.exit_code == 1
    assert "no gateway answers at http://127.0.0.1:9; start one with" in result.stderr


def test_a_batch_that_is_refused_leaves_no_file(run, gateway: Gateway, requests: str) -> None:
    gateway.refusals["POST /v1/batches"] = (400, "completion_window: such as 30m is expected.")
    result = run("batch", "submit", requests, "--url", gateway.url, "--window", "soon")
    assert result.exit_code == 1
    assert result.stderr.endswith("answered 400: completion_window: such as 30m is expected.\n")
    assert gateway.asked[-1][0] == "DELETE /v1/files/file-1"


def test_a_batch_that_may_have_been_made_keeps_its_file(run, gateway: Gateway, requests: str) -> None:
    gateway.refusals["POST /v1/batches"] = (503, "The store is away.")
    assert run("batch", "submit", requests, "--url", gateway.url).exit_code == 1
    assert gateway.asked[-1][0] == "POST /v1/batches"


def test_waiting_ends_with_the_batch_and_warns_once_of_a_late_one(run, gateway: Gateway, requests: str) -> None:
    gateway.batches = [RUNNING, LATE, LATE, told()]
    result = run("batch", "submit", requests, "--url", gateway.url, "--wait")
    assert (result.exit_code, result.stdout) == (0, "batch_1\n")
    assert result.stderr.count("it will be late: its last line is expected at 2023-11-15 23:13") == 1
    assert result.stderr.endswith("completed, 2 of 2\n")


def test_waiting_for_json_prints_the_batch_as_it_ended(run, gateway: Gateway, requests: str) -> None:
    gateway.batches = [RUNNING, told(status="expired")]
    result = run("batch", "submit", requests, "--url", gateway.url, "--wait", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] == "expired"


def test_an_interrupt_leaves_the_batch_and_says_how_to_look_at_it(
    gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    gateway.batches = [RUNNING]
    client = BatchClient(gateway.url, None, 10.0)
    with pytest.raises(KeyboardInterrupt):
        BatchWatch(client, sleep=interrupted).until_over(client.batch("batch_1"), is_json=False)
    said = capsys.readouterr().err
    assert "`heterodyne batch show batch_1 --watch`" in said
    assert "`heterodyne batch cancel batch_1`" in said
    assert all("cancel" not in asked for asked, _ in gateway.asked)


def test_a_gateway_that_is_away_for_a_while_is_waited_for(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.batches = [RUNNING, told()]
    client, sleeps = BatchClient(gateway.url, None, 10.0), []
    found = client.batch("batch_1")
    gateway.refusals["GET /v1/batches/batch_1"] = (503, "The store is away.")

    def sleep(seconds: float) -> None:
        sleeps.append(seconds)
        if len(sleeps) == 3:
            gateway.refusals.clear()

    assert BatchWatch(client, sleep=sleep).until_over(found, is_json=False).is_completed
    assert capsys.readouterr().err.count("The store is away.; waiting for it") == 1


def test_a_gateway_that_stays_away_is_told(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "AWAY_MAX_S", 0.003)
    gateway.batches = [RUNNING]
    found = BatchClient(gateway.url, None, 10.0).batch("batch_1")
    with pytest.raises(GatewayUnreachable):
        BatchWatch(BatchClient(NO_GATEWAY, None, 1.0), sleep=lambda _: None).until_over(found, is_json=False)


def test_a_list_is_as_long_as_wanted(run, gateway: Gateway) -> None:
    gateway.listed = [told(id=f"batch_{number}") for number in range(250)]
    listed = run("batch", "list", "--url", gateway.url, "--limit", "210", "--json").stdout
    assert [one["id"] for one in json.loads(listed)] == [f"batch_{number}" for number in range(210)]
    lines = run("batch", "list", "--url", gateway.url).stdout.splitlines()
    assert lines[0].split()[:4] == ["ID", "STATUS", "DONE", "FAILED"]
    assert lines[1].split() == ["batch_0", "completed", "2/2", "0", "2023-11-14", "22:13"]
    assert len(lines) == 21
    assert run("batch", "list", "--limit", "0").exit_code == 2


def test_what_is_known_of_a_batch_is_shown(run, gateway: Gateway) -> None:
    problem = {"code": "invalid_url", "message": "Line 3: url: no.", "line": 3, "param": "url"}
    gateway.batches = [LATE | {"errors": {"object": "list", "data": [problem]}, "metadata": {"job": "nightly"}}]
    shown = run("batch", "show", "batch_1", "--url", gateway.url).stdout
    for words in ("50: 20 answered, 1 failed", "after its window", "Line 3: url: no.", "job=nightly"):
        assert words in shown
    assert json.loads(run("batch", "show", "batch_1", "--url", gateway.url, "--json").stdout)["heterodyne"]["is_late"]


def test_watching_ends_as_the_batch_does(run, gateway: Gateway) -> None:
    gateway.batches = [RUNNING, told(status="cancelled")]
    assert run("batch", "show", "batch_1", "--url", gateway.url, "--watch").exit_code == 1
    assert run("batch", "show", "batch_1", "--url", gateway.url).exit_code == 0


def test_a_batch_that_is_not_there_is_told_in_the_gateways_words(run, gateway: Gateway) -> None:
    gateway.refusals["GET /v1/batches/a%2Fb"] = (404, "there is no batch a/b")
    result = run("batch", "show", "a/b", "--url", gateway.url)
    assert (result.exit_code, result.stderr) == (1, f"heterodyne: {gateway.url} answered 404: there is no batch a/b\n")


def test_a_batch_is_cancelled(run, gateway: Gateway) -> None:
    gateway.batches = [told(status="cancelling")]
    result = run("batch", "cancel", "batch_1", "--url", gateway.url)
    assert (result.exit_code, result.stderr) == (0, "batch_1 is cancelling\n")
    assert gateway.asked[0][0] == "POST /v1/batches/batch_1/cancel"


def test_results_go_to_stdout_or_to_files(run, gateway: Gateway, tmp_path: Path) -> None:
    assert run("batch", "fetch", "batch_1", "--url", gateway.url).stdout_bytes == ANSWERS
    gateway.batches = [told(error_file_id="file-bad")]
    result = run("batch", "fetch", "batch_1", "--url", gateway.url, "-o", "out", "--errors", "bad")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "out").read_bytes() == ANSWERS
    assert (tmp_path / "bad").read_bytes() == gateway.contents["file-bad"]
    assert list(tmp_path.glob("*.part")) == []
    assert "--errors FILE says why" in run("batch", "fetch", "batch_1", "--url", gateway.url).stderr


def test_no_file_is_replaced_unless_that_is_wanted(run, gateway: Gateway, tmp_path: Path) -> None:
    for option in ("-o", "--errors"):
        (tmp_path / "old").write_text("old")
        result = run("batch", "fetch", "batch_1", "--url", gateway.url, option, "old")
        assert (result.exit_code, result.stderr) == (2, "heterodyne: old is there already; --force replaces it\n")
    assert gateway.asked == []
    assert run("batch", "fetch", "batch_1", "--url", gateway.url, "-o", "old", "--force").exit_code == 0
    assert (tmp_path / "old").read_bytes() == ANSWERS


def test_one_file_cannot_take_both(run) -> None:
    assert run("batch", "fetch", "batch_1", "--url", NO_GATEWAY, "-o", "a", "--errors", "./a").exit_code == 2


def test_results_that_are_cut_short_leave_what_was_there(run, gateway: Gateway, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    gateway.cut_bytes = 5
    result = run("batch", "fetch", "batch_1", "--url", gateway.url, "-o", "old", "--force")
    assert result.exit_code == 1
    assert "the results were cut short" in result.stderr
    assert (tmp_path / "old").read_text() == "old"
    assert list(tmp_path.glob("*.part")) == []


def test_a_batch_that_is_not_over_has_no_results_yet(run, gateway: Gateway, tmp_path: Path) -> None:
    gateway.batches = [RUNNING]
    result = run("batch", "fetch", "batch_1", "--url", gateway.url, "-o", "out")
    assert result.exit_code == 1
    assert "batch_1 is not over yet (in_progress: 21 of 50, 1 failed)" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_batch_without_answers_says_why(run, gateway: Gateway, tmp_path: Path) -> None:
    problem = {"code": "empty_file", "message": "The input file is empty."}
    gateway.batches = [told(status="failed", output_file_id=None, errors={"data": [problem]})]
    result = run("batch", "fetch", "batch_1", "--url", gateway.url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("batch_1 is failed and has no answers: The input file is empty.\n")
    gateway.batches = [told(output_file_id=None, error_file_id="file-bad")]
    assert run("batch", "fetch", "batch_1", "--url", gateway.url).exit_code == 1
    assert run("batch", "fetch", "batch_1", "--url", gateway.url, "--errors", "bad").exit_code == 0
    assert (tmp_path / "bad").exists()


def test_a_form_has_the_length_that_it_says(tmp_path: Path) -> None:
    path = tmp_path / 'a"b\\c.jsonl'
    path.write_bytes(b"x" * 1_000_000)
    sent: list[int] = []
    form = UploadForm(BatchInput(path, 1_000_000, "/v1/embeddings"), sent.append)
    pieces = list(form)
    assert sum(map(len, pieces)) == int(form.headers["content-length"])
    assert max(map(len, pieces)) < 300_000
    assert sum(sent) == 1_000_000
    assert b'filename="a_b_c.jsonl"' in pieces[0]


def test_a_file_that_becomes_shorter_is_not_sent_as_another(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(LINE)
    with pytest.raises(CallerError, match="became shorter"):
        list(UploadForm(BatchInput(path, 1000, "/v1/embeddings"), lambda _: None))
