"""The mixed fleet of `examples/`, started for real: replicas are killed while a client streams, then all of them."""

import json
import signal
import tomllib
from pathlib import Path

import msgspec

from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.testing.serve_process import is_alive
from tests.support.mixed_fleet import CONFIG, EMULATORS, MESSAGES, post, running, wait_until

TOKENS = 500
TOKENS_BEFORE_A_KILL = 40


def words_of(line: bytes) -> str:
    """What one line of an event stream says."""
    if not line.startswith(b"data: {"):
        return ""
    event = json.loads(line.removeprefix(b"data: "))
    assert "error" not in event, event
    return "".join(choice["delta"].get("content") or "" for choice in event["choices"])


def whole_answer(folder: Path, name: str) -> str:
    """What an emulator answers when nothing goes wrong, asked directly and in a hurry."""
    pools = tomllib.loads((folder / "heterodyne.toml").read_text(encoding="utf-8"))["pools"]
    [url] = pools[name.removesuffix("-0")]["urls"]
    post(f"{url}/emulator/faults", {"slowdown": 0.05}).close()
    asked = {"model": "llama-3.1-8b", "messages": MESSAGES, "max_tokens": TOKENS, "ignore_eos": True}
    with post(f"{url}/v1/chat/completions", asked) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def test_replicas_are_killed_while_a_client_streams_and_then_all_of_them(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        with example.ask(stream=True, max_tokens=TOKENS, ignore_eos=True) as stream:
            first = stream.headers["x-heterodyne-replica"]
            assert stream.headers["x-heterodyne-pool"] in first
            text = "".join(words_of(stream.readline()) for _ in range(2 * TOKENS_BEFORE_A_KILL))
            example.kill(first)
            wait_until(lambda: example.events("stream_continued"), 5, "a continuation")
            [second] = [one["replica"] for one in example.events("stream_continued")]
            example.kill(second)
            rest = stream.readlines()
        assert first != second
        assert rest[-2] == b"data: [DONE]\n"
        text += "".join(map(words_of, rest))

        left = [name for name in EMULATORS if name not in (first, second)]
        assert text == whole_answer(tmp_path, left[0]), "every word, once"
        wait_until(example.records, 5, "a record")
        [record] = example.records()
        assert (record["status"], record["continuations"], record["completion_tokens"]) == (200, 2, TOKENS)
        assert record["replica"] in left

        for name in left:
            example.kill(name)
        with example.ask(max_tokens=4) as answer:
            assert answer.headers["x-heterodyne-replica"] == "cpu-0"
            assert json.load(answer)["model"] == "smollm2-135m"
        wait_until(lambda: example.said.count("has ended: SIGKILL") == len(EMULATORS), 5, "word of the deaths")
        assert not [name for name in EMULATORS if (tmp_path / f"{name}.pid").exists()]


def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        processes = example.descendants()
        assert len(processes) == 7, "four emulators, the gateway, its worker and llama.cpp"
        example.process.send_signal(signal.SIGINT)
        assert example.process.wait(20) == 0
        assert not [pid for pid in processes if is_alive(pid)]


def test_no_process_outlives_a_killed_example(tmp_path: Path) -> None:
    with running(tmp_path) as example:
        processes = example.descendants()
        example.process.kill()
        wait_until(lambda: not [pid for pid in processes if is_alive(pid)], 10, "everybody's end")


def test_the_small_model_is_the_one_served_by_default() -> None:
    given = msgspec.convert(tomllib.loads(CONFIG)["pools"]["cpu"], PoolSettings)
    assert msgspec.structs.replace(given, region=None, labels={}) == DEFAULT_POOLS["chat"]
