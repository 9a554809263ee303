"""Inputs become pieces: prompts that begin alike stand together, and what cannot be sent is told by its line."""

import json
from pathlib import Path

import pytest

from heterodyne.batches.batch import ANTHROPIC_API, Batch
from heterodyne.batches.planning import PIECE_LINES, InputUnusable, plan_work
from heterodyne.batches.work_folder import WorkFolder, WorkLine, lines_in

CHAT = "/v1/chat/completions"


def batch(**changes: str) -> Batch:
    fields = {"endpoint": CHAT, "input_file": "i", "output_file": "o", "error_file": "e", "window": "24h", **changes}
    return Batch(id="batch_1", project="acme/search", key="k_1", expires_at=0.0, **fields)


def line(custom_id: str, prompt: str, **changes: object) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": CHAT, "body": body, **changes})


def planned(
    folder: Path, content: str, **changes: str
) -> tuple[WorkFolder, list[list[WorkLine]], list[tuple[int, str]]]:
    source, work = folder / "in", WorkFolder(folder / "work")
    source.write_text(content)
    _, problems = plan_work(batch(**changes), source, work, lines_max=1000)
    pieces = [list(lines_in((work.path / f"{name}.lines").read_bytes())) for name in work.pieces()]
    return work, pieces, [(one.line or 0, one.code) for one in problems]


def test_lines_that_begin_alike_stand_together_in_the_order_of_the_input(tmp_path: Path) -> None:
    begins = ["a" * 600, "b" * 600, "c" * 600]
    content = "\n".join(line(f"{number}", f"{begins[number % 3]}{number}") for number in range(30))
    _, [piece], _ = planned(tmp_path, content)
    groups = [one.number % 3 for one in piece]
    assert groups == sorted(groups, key=groups.index), "each group is one run"
    assert [one.follows for one in piece].count(False) == 3, "of each the first follows nobody"
    for group in range(3):
        numbers = [one.number for one in piece if one.number % 3 == group]
        assert len(numbers) == 10


def test_short_prompts_follow_nobody(tmp_path: Path) -> None:
    _, [piece], _ = planned(tmp_path, "\n".join(line(f"{number}", f"{number}") for number in range(5)))
    assert not any(one.follows for one in piece)


def test_prompts_of_two_models_never_stand_together(tmp_path: Path) -> None:
    other = {"model": "other", "messages": [{"role": "user", "content": "a" * 600}]}
    content = "\n".join([line("1", "a" * 600), line("2", "x", body=other)])
    _, [piece], _ = planned(tmp_path, content)
    assert not any(one.follows for one in piece)


def test_the_same_input_makes_the_same_pieces(tmp_path: Path) -> None:
    content = "\n".join(line(f"{number}", f"{number}") for number in range(3 * PIECE_LINES))
    _, first, _ = planned(tmp_path, content)
    _, again, _ = planned(tmp_path, content)
    assert first == again
    assert [len(piece) for piece in first] == [PIECE_LINES] * 3


def test_lines_that_cannot_be_sent_are_told_by_their_numbers(tmp_path: Path) -> None:
    content = "\n".join(
        [
            "",
            line("a", "x"),
            "[1]",
            line("", "x"),
            line("m", "x", method="GET"),
            line("b", "x", body="text"),
            line("a", "twice"),
            "   ",
            line("last", "x"),
        ]
    )
    work, [piece], problems = planned(tmp_path, content)
    assert [one.number for one in piece] in ([2, 9], [9, 2])
    assert problems == [
        (3, "invalid_line"),
        (4, "invalid_line"),
        (5, "invalid_method"),
        (6, "invalid_request"),
        (7, "duplicate_custom_id"),
    ]
    assert (work.path / "problems.results").read_bytes().count(b"\n") == 5


@pytest.mark.parametrize(
    ("content", "code"),
    [("", "empty_file"), ("\n \n", "empty_file"), ("x", "invalid_json_line"), ("1\n" * 1001, "too_many_lines")],
)
def test_an_input_without_a_line_to_send_is_unusable(tmp_path: Path, content: str, code: str) -> None:
    with pytest.raises(InputUnusable) as error:
        planned(tmp_path, content)
    assert error.value.problem.code == code


def test_requests_of_anthropics_api_go_to_their_own_path(tmp_path: Path) -> None:
    _, [piece], problems = planned(
        tmp_path, line("a", "x", url="/v1/messages"), api=ANTHROPIC_API, endpoint="/v1/messages"
    )
    assert len(piece) == 1
    assert not problems
