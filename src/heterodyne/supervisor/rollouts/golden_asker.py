"""Asks a candidate the questions whose answers are known, several at a time."""

import asyncio

from heterodyne.concurrency.deadline import deadline
from heterodyne.control.own_question import try_own_question
from heterodyne.control.replica_call import call_replica
from heterodyne.control.whole_answer import read_whole_text
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.rollout.golden import GoldenSet, golden_verdict
from heterodyne.wire.connection_pool import ConnectionPool

AT_ONCE = 8
ALL_S, ANSWER_S, CONNECT_S = 120.0, 60.0, 5.0
ANSWER_TOKENS = 256


async def golden_answers(replica: Replica, golden: GoldenSet) -> tuple[bool, str]:
    """Whether enough is right, and in words what is not; a question that is not answered is wrong."""
    connections = ConnectionPool(asyncio.get_running_loop(), idle_max=AT_ONCE, connect_timeout_s=CONNECT_S)
    answers = [""] * len(golden.questions)
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(number: int, prompt: str) -> None:
        async with turns:
            answers[number] = await _try_answer(connections, replica, prompt)

    try:
        async with deadline(ALL_S), asyncio.TaskGroup() as group:
            for number, question in enumerate(golden.questions):
                group.create_task(ask(number, question.prompt))
    except TimeoutError:
        return False, f"{replica.id} did not answer the golden questions within {ALL_S:g} s"
    finally:
        await connections.close()
    return golden_verdict(golden, answers)


async def _try_answer(connections: ConnectionPool, replica: Replica, prompt: str) -> str:
    """What it says; nothing where it fails."""
    request = try_own_question(replica, "rollout-golden", prompt, tokens=ANSWER_TOKENS)
    if request is None:
        return ""
    try:
        answer = await call_replica(connections, replica, request, timeout_s=ANSWER_S)
        return read_whole_text(answer, replica.id).text
    except HeterodyneError:
        return ""
