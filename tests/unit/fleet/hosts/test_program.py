"""Programs of this machine, and how they end."""

import pytest

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.fleet.hosts.program import run_program

LONG = "x" * 200_000


async def test_a_program_that_does_not_read_what_it_is_given_is_heard_all_the_same() -> None:
    for _ in range(20):
        ran = await run_program(["sh", "-c", "echo refused >&2; exit 255"], 10.0, text=LONG)
        assert (ran.code, ran.output, ran.complaint) == (255, "", "refused")


async def test_a_program_reads_what_it_is_given_to_its_end() -> None:
    ran = await run_program(["wc", "-c"], 10.0, text=LONG)
    assert (ran.code, int(ran.output)) == (0, len(LONG))


async def test_a_program_that_does_not_end_is_ended() -> None:
    with pytest.raises(DriverUnavailable, match=r"sleep: no answer within 0 s"):
        await run_program(["sleep", "60"], 0.1)


async def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(DriverUnavailable, match="no-such-program: No such file"):
        await run_program(["no-such-program"], 10.0)
