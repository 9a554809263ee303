"""Guards elsewhere as one worker asks them: several at once, never for longer than they may take, never too many."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import GuardUnavailable, HeterodyneError, Overloaded
from heterodyne.domain.guard_verdict import Direction
from heterodyne.gateway.guards.failing import failed
from heterodyne.gateway.guards.quick import is_quick_for
from heterodyne.gateway.guards.remote.asking import RemoteAsking
from heterodyne.gateway.guards.remote.waiting import RemoteWait
from heterodyne.gateway.offload.gathering import gathered
from heterodyne.gateway.offload.job import GatherTexts, JobFailed, Result, TextsGathered, error_of
from heterodyne.gateway.offload.process import Offload
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.remote.asked_texts import NO_TEXTS, AskedTexts
from heterodyne.safety.remote.judged import Judged, Looked, RemoteFinding
from heterodyne.safety.remote.look_failed import LookFailed
from heterodyne.safety.settings import GuardSettings
from heterodyne.telemetry import log

LOOKS_MAX: Final = 1024  # requests and answers that wait for a verdict
BESIDE_MAX: Final = 64  # those that go on meanwhile
LOCAL_BYTES_MAX: Final = 16 * 1024  # of a body whose texts are gathered in the loop
RULES_MAX: Final = 64  # names of findings, of one policy: they are labels of a metric
OTHER: Final = "other"  # the name of those beyond it
LEAVE_S: Final = 5.0  # for what is cancelled when the worker ends

_log = log.get("gateway")

Done = Callable[[Looked], None]


class LookedAt(NamedTuple):
    """What guards are asked about."""

    request_id: str
    direction: Direction
    project: str
    model: str
    owner: bytes  # whose turn it takes beside the worker
    regions: frozenset[str] | None  # the only ones that the texts may be sent to; None: anywhere
    pieces: Sequence[bytes]
    job: GatherTexts
    here: Sequence[GuardRule]  # rules that have looked at an answer, or will


class RemoteGuards:
    """One per worker; policies come and go."""

    def __init__(self, asking: RemoteAsking, offload: Offload) -> None:
        self.asking = asking
        self._offload = offload
        self._looks: set[asyncio.Task[None]] = set()
        self._beside: set[asyncio.Task[None]] = set()
        self._rules: dict[str, set[str]] = {}
        self.waiting: set[RemoteWait] = set()  # requests that are not admitted yet

    def configure(self, policies: Mapping[str, GuardSettings]) -> None:
        """Other policies from the next request on; who is asked already is heard."""
        self.asking.keep_only(policies.values())
        self._rules = {name: rules for name, rules in self._rules.items() if name in policies}

    def look(self, rules: Sequence[GuardRule], at: LookedAt, done: Done) -> "StartedLook":
        """Ask all of them; `done` is told later, unless it is cancelled."""
        if len(self._looks) >= LOOKS_MAX:
            full = [(rule, LookFailed(f"{LOOKS_MAX} others wait for a verdict")) for rule in rules]
            looked = Looked(refusal=_refusal(full, at))
            return StartedLook(asyncio.get_running_loop().call_soon(done, looked))
        return StartedLook(self._start(self._looks, rules, at, done))

    def flag(self, rules: Sequence[GuardRule], at: LookedAt, done: Done) -> None:
        """The same for texts that go on meanwhile, so that nothing else bounds how many are held."""
        if len(self._beside) >= BESIDE_MAX:
            failed(at.request_id, at.direction, Overloaded("Too many texts wait to be looked at elsewhere."))
        else:
            self._start(self._beside, rules, at, done)

    def end_waiting(self, error: HeterodyneError) -> None:
        """None that waits will be admitted any more."""
        for wait in tuple(self.waiting):
            wait.end(error)

    async def close(self) -> None:
        """Nobody is asked any more."""
        tasks = (*self._looks, *self._beside)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LEAVE_S)
        await self.asking.close()

    def _start(
        self, among: set[asyncio.Task[None]], rules: Sequence[GuardRule], at: LookedAt, done: Done
    ) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._run(rules, at, done))
        among.add(task)
        task.add_done_callback(among.discard)
        return task

    async def _run(self, rules: Sequence[GuardRule], at: LookedAt, done: Done) -> None:
        try:
            looked = await self._looked(rules, at)
        except Exception as error:  # noqa: BLE001  # a mistake of ours, or texts that cannot be gathered
            looked = Looked(refusal=_refusal([(rule, LookFailed(type(error).__name__)) for rule in rules], at))
        try:
            done(looked)
        except Exception as error:  # noqa: BLE001  # the root of a task
            _log.error("guarded_request_failed", request_id=at.request_id, exc_info=error)

    async def _looked(self, rules: Sequence[GuardRule], at: LookedAt) -> Looked:
        texts = await self._texts(at)
        unread = tuple(rules) if texts.has_ids else ()
        if texts.json == NO_TEXTS or any(rule.action == "block" for rule in unread):
            return Looked(unread=unread)
        judged: list[Judged] = []
        missing: list[tuple[GuardRule, LookFailed]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for rule in rules:
                    group.create_task(self._ask(rule, at, texts, judged, missing))
        except* EnoughSaid:
            pass  # whatever the others would say
        return Looked(tuple(judged), unread, _refusal(missing, at))

    async def _ask(
        self,
        rule: GuardRule,
        at: LookedAt,
        texts: AskedTexts,
        judged: list[Judged],
        missing: list[tuple[GuardRule, LookFailed]],
    ) -> None:
        try:
            async with deadline(rule.timeout_s):
                heard = await self.asking.ask(rule, at.direction, at.project, at.model, texts, regions=at.regions)
        except TimeoutError:
            heard = LookFailed("no verdict in time")
        except Exception as error:  # noqa: BLE001  # a mistake of ours is no verdict either
            _log.error("guard_not_asked", request_id=at.request_id, policy=rule.policy, exc_info=error)
            heard = LookFailed(type(error).__name__)
        if isinstance(heard, LookFailed):
            missing.append((rule, heard))
            is_enough = not rule.passes_unseen
        else:
            judged.append(Judged(rule.policy, rule.settings, self._counted(rule, heard)))
            is_enough = judged[-1].blocks
        if is_enough:
            raise EnoughSaid

    def _counted(self, rule: GuardRule, findings: Sequence[RemoteFinding]) -> tuple[RemoteFinding, ...]:
        """Those that the guard is sure enough of; there are only so many names of them."""
        known = self._rules.setdefault(rule.policy, set())
        counted = []
        for one in findings:
            if one.score < rule.settings.score_min:
                continue
            if one.rule not in known and len(known) >= RULES_MAX:
                counted.append(RemoteFinding(rule=OTHER, score=one.score, where=one.where))
            else:
                known.add(one.rule)
                counted.append(one)
        return tuple(counted)

    async def _texts(self, at: LookedAt) -> AskedTexts:
        """In the loop where there are few, beside the worker where there are many; raises what the latter ends with."""
        if sum(map(len, at.pieces)) <= LOCAL_BYTES_MAX:
            body = b"".join(at.pieces)
            if not at.here or is_quick_for(at.here, body):
                return gathered(at.here, at.job, body)
        future: asyncio.Future[AskedTexts] = asyncio.get_running_loop().create_future()
        job = self._offload.submit(at.job, at.pieces, at.owner, partial(_gathered, future))
        try:
            return await future
        finally:
            job.cancel()


class StartedLook:
    """One that nobody may want to hear of any more."""

    __slots__ = ("_handle",)

    def __init__(self, handle: asyncio.Task[None] | asyncio.Handle) -> None:
        self._handle = handle

    def cancel(self) -> None:
        self._handle.cancel()


class EnoughSaid(Exception):
    """One guard has said enough, and the others need not be waited for."""


def _gathered(future: "asyncio.Future[AskedTexts]", result: Result, texts: bytes) -> None:
    if future.done():
        return
    if isinstance(result, JobFailed):
        future.set_exception(error_of(result))
    else:
        assert isinstance(result, TextsGathered)
        future.set_result(AskedTexts(texts, result.has_ids))


def _refusal(missing: Sequence[tuple[GuardRule, LookFailed]], at: LookedAt) -> GuardUnavailable | None:
    """Write down which verdicts are missing; the error where one of them must not be."""
    refusal = None
    for rule, why in missing:
        error = GuardUnavailable(f'The policy "{rule.policy}" asks a guard that gave no verdict; try again shortly.')
        failed(at.request_id, at.direction, error, policy=rule.policy, reason=why.reason)
        if rule.action == "block" and not rule.passes_unseen:
            refusal = refusal or error
    return refusal
