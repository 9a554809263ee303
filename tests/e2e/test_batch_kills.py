"""Gateways are killed while they work on a batch: no line is lost, none is answered twice, and the books agree."""

from pathlib import Path

from tests.support.batch_kills import work_off


def test_a_batch_survives_kills_of_anybody(tmp_path: Path) -> None:
    work_off(tmp_path, lines=1500, kills=4, seed=3, told=print)
