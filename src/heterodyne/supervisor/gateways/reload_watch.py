"""One gateway's part in reloads of all: proposes what its own file says, answers what others propose, and follows.

What is agreed on is in the database, which forgets nothing; who is asked are the gateways that are heard of through
`stores.fleet_url`. No settings travel: each gateway reads its own file, and they compare one word for what it says.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import structs

from heterodyne.batches.batch import EVERYBODY
from heterodyne.concurrency.deadline import deadline
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.pages import GatewayVersion, Reloaded, SettingsStanding
from heterodyne.domain.errors import HeterodyneError, StoreUnavailable
from heterodyne.fleet.settings import FleetSettings
from heterodyne.ports.document_store import Document, DocumentStore
from heterodyne.supervisor.fleet.fleet_reload import FleetReload, PreparedReload
from heterodyne.supervisor.fleet.settings_version import SettingsVersion, differing, in_words
from heterodyne.supervisor.gateways import reload_rule
from heterodyne.supervisor.gateways.gateway_watch import GatewayWatch
from heterodyne.supervisor.gateways.reload_rule import (
    TAKE_S,
    FleetReloadState,
    MemberStep,
    ReloadMember,
    ReloadPhase,
)
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

ID: Final = "reload"
KIND: Final = "reload"
KEPT_S: Final = 10 * 365 * 86400.0  # documents expire; this one is prolonged with every step
LOOK_S: Final = 1.0
BUSY_LOOK_S: Final = 0.2  # while a reload is under way
STEPS_MAX: Final = 16  # of one look

_log = log.get("assembly")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(FleetReloadState).decode

Change = Callable[[FleetReloadState], FleetReloadState | None]


class ReloadWatch:
    """One per supervisor whose gateway shares a fleet."""

    def __init__(
        self,
        local: FleetReload,
        store: DocumentStore,
        gateways: GatewayWatch,
        *,
        sender: str,
        name: str,
        settings: Callable[[], FleetSettings],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`sender` is the name of this process among all that ever were, `name` the one for people."""
        self._local = local
        self._store = store
        self._gateways = gateways
        self._sender = sender
        self._name = name
        self._settings = settings
        self._clock = clock
        self._wall_clock = wall_clock
        self._member = ReloadMember(sender)
        self._state: FleetReloadState | None = None  # as it was read last
        self._prepared: tuple[int, PreparedReload] | None = None  # by the number of the reload it is for
        self._answer: tuple[int, Reloaded] | None = None
        self._differs_at: tuple[str, ...] = ()
        self._asking = asyncio.Lock()
        self._trouble = Trouble(_log, "reloads_unknown")
        gateways.settings = lambda: local.version.word

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.look()
                self._trouble.worked()
            except StoreUnavailable as error:
                self._trouble.failed(error)
            metrics.settings_apart.set((), float(len(self.standing().apart)))
            is_busy = self._asking.locked() or (self._state is not None and self._state.is_open)
            await asyncio.sleep(BUSY_LOOK_S if is_busy else LOOK_S)

    async def look(self) -> None:
        """Once: whatever the reload of the moment asks of this gateway; raises StoreUnavailable."""
        for _ in range(STEPS_MAX):
            found = await self._find()
            if found is None:
                return
            self._state = state = _decode(found.body)
            step = self._member.step(state, self._clock())
            if step is MemberStep.WAIT:
                return
            await self._do(step, state)

    async def reload(self) -> Reloaded:
        """Have all gateways work by what their files say now; refused where one of them will not, or is not asked."""
        if self._asking.locked():
            raise ChangeRefused(f"Another reload, asked of {self._name}, is under way.")
        async with self._asking:
            try:
                return await self._reload_all()
            except StoreUnavailable as error:
                if self._settings().reload_when_unreachable == "closed":
                    raise ChangeRefused(
                        f"{error.message} So the other gateways cannot be asked, and this one goes on by the settings "
                        "it has. `heterodyne fleet reload --alone` takes its file here only."
                    ) from error
                _log.warning("reloads_alone", reason=error.message)
                return structs.replace(await self._local.reload(), note=f"Taken here alone: {error.message}")

    def standing(self) -> SettingsStanding:
        """Which settings hold, for the operator's page."""
        state = self._state
        others = sorted((one.gateway, one.settings) for one in self._gateways.heard().values())
        return SettingsStanding(
            version=self._local.version.word,
            others=tuple(GatewayVersion(gateway=gateway, version=version) for gateway, version in others),
            differs_at=self._differs_at,
            under_way="" if state is None else state.in_words,
            problem="" if state is None else state.problem,
        )

    async def _reload_all(self) -> Reloaded:
        prepared = await self._local.prepare()
        state = await self._propose(prepared)
        number, waits_s = state.number, state.prepare_s + 3 * TAKE_S
        try:
            async with deadline(waits_s):
                while not self._is_over(number):
                    await asyncio.sleep(BUSY_LOOK_S / 4)
        except TimeoutError as error:
            raise ChangeRefused(
                f"Reload {number} was proposed, and what came of it is not known after {waits_s:g} s: "
                "`heterodyne fleet status` tells."
            ) from error
        return self._outcome(number)

    async def _propose(self, prepared: PreparedReload) -> FleetReloadState:
        heard = await self._gateways.fresh()
        if silent := [one.gateway for one in heard.values() if not one.settings]:
            raise ChangeRefused(f"{', '.join(silent)} runs a version of Heterodyne that cannot agree on a reload.")
        found = await self._find()
        last = None if found is None else _decode(found.body)
        state = reload_rule.proposed(
            last,
            sender=self._sender,
            version=prepared.version.word,
            parts=prepared.version.parts,
            before=self._local.version.word,
            prepare_s=self._settings().reload_timeout_s,
            members={self._sender: self._name, **{sender: one.gateway for sender, one in heard.items()}},
            known=self._member.done,
        )
        if state is not None:
            self._prepared = (state.number, prepared)
            if await self._write(found, state):
                self._state = state
                return state
            found = await self._find()
            last = None if found is None else _decode(found.body)
        other = "of another gateway" if last is None else f"{last.number}, of {last.proposer},"
        raise ChangeRefused(f"Another reload {other} is under way: one at a time.")

    def _is_over(self, number: int) -> bool:
        """Whether the reload has ended and this gateway has done its part."""
        state = self._state
        if state is None or state.number < number:
            return False
        has_followed = self._member.done >= number if state.is_decided else self._member.taken != number
        return has_followed and (state.number > number or not state.is_open)

    def _outcome(self, number: int) -> Reloaded:
        state = self._state
        assert state is not None
        if state.number == number and state.is_decided and self._answer is not None and self._answer[0] == number:
            unasked = sorted({*self._gateways.missed()} - {*state.members.values()})
            missed = [f"{name} was not heard of, and not asked" for name in unasked]
            return structs.replace(
                self._answer[1],
                gateways=tuple(sorted(state.members[one] for one in state.taken)),
                note=". ".join((*filter(None, (state.problem,)), *missed)),
            )
        if state.phase is ReloadPhase.REFUSED:
            metrics.reloads.add(("differs",))
        problem = state.problem if state.number == number else "Another reload came after it."
        raise ChangeRefused(f"No gateway works by the new settings. {problem}")

    async def _do(self, step: MemberStep, state: FleetReloadState) -> None:
        number = state.number
        match step:
            case MemberStep.PREPARE:
                await self._prepare(state)
            case MemberStep.TAKE:
                await self._take(state)
            case MemberStep.TELL:
                await self._change(lambda one: reload_rule.taken(one, number, self._sender))
            case MemberStep.UNDO:
                _log.error("reload_undone", number=self._member.taken, problem=state.problem)
                await self._local.undo()
                self._local.note_refused(state.problem)
                self._member.undid()
            case MemberStep.CLOSE:
                await self._change(lambda one: reload_rule.overdue(one, number))

    async def _prepare(self, state: FleetReloadState) -> None:
        """Say whether this gateway would take what another proposes."""
        number, reason = state.number, ""
        try:
            async with deadline(state.prepare_s):
                prepared = await self._local.prepare()
            if paths := differing(prepared.version, _version(state)):
                reason = f"its file says something else at {in_words(paths)}"
            else:
                self._prepared = (number, prepared)
        except HeterodyneError as error:
            reason = error.message
        except TimeoutError:
            reason = f"it was not ready within {state.prepare_s:g} s"
        if reason:
            metrics.reloads.add(("differs",))
            _log.error("reload_refused", number=number, proposer=state.proposer, problem=reason)
            await self._change(lambda one: reload_rule.refused(one, number, self._sender, reason))
        else:
            await self._change(lambda one: reload_rule.ready(one, number, self._sender))

    async def _take(self, state: FleetReloadState) -> None:
        """Work by what was agreed on, as it was read before, or as the file says now where this gateway was away."""
        number, version = state.in_force
        try:
            prepared = await self._try_prepared(number, version)
            if prepared is None:
                self._give_up(state)
                return
            self._answer = (number, await self._local.take(prepared))
        except HeterodyneError as error:
            reason = error.message
            self._local.note_refused(reason)
            if self._sender in state.members and state.phase is ReloadPhase.TAKING:
                await self._change(lambda one: reload_rule.failed(one, number, self._sender, reason))
            else:
                self._member.gave_up(number)
            return
        self._differs_at = ()
        self._member.took(number)

    async def _try_prepared(self, number: int, version: str) -> PreparedReload | None:
        """None: this gateway works by it already, or its file says something else."""
        if self._prepared is not None and self._prepared[0] == number:
            return self._prepared[1]
        if self._local.version.word == version:
            return None
        prepared = await self._local.prepare(awaits_workers=False)
        return prepared if prepared.version.word == version else None

    def _give_up(self, state: FleetReloadState) -> None:
        """Go on by what this gateway has, and say where that is something else."""
        number, version = state.in_force
        self._member.gave_up(number)
        if self._local.version.word == version:
            return
        self._differs_at = differing(self._local.version, _version(state)) if state.is_decided else ()
        metrics.reloads.add(("differs",))
        _log.error("settings_differ", number=number, agreed=version, at=in_words(self._differs_at))

    async def _find(self) -> Document | None:
        return await self._store.get(EVERYBODY, KIND, ID, self._wall_clock())

    async def _change(self, change: Change) -> None:
        """One step, unless it is no longer asked; somebody who was quicker is seen at the next look."""
        found = await self._find()
        changed = None if found is None else change(_decode(found.body))
        if changed is not None:
            await self._write(found, changed)

    async def _write(self, found: Document | None, state: FleetReloadState) -> bool:
        """Whether nobody was quicker."""
        now = self._wall_clock()
        document = Document(
            id=ID, project=EVERYBODY, kind=KIND, created_at=now, expires_at=now + KEPT_S, body=_encode(state)
        )
        if found is None:
            return await self._store.add([document])
        return await self._store.replace(structs.replace(document, revision=found.revision + 1))


def _version(state: FleetReloadState) -> SettingsVersion:
    return SettingsVersion(word=state.version, parts=state.parts)
