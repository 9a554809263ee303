"""Tenants as they stand now, put together from their store, the books, the counters of limits and the workers' views.

What a worker has leased of a limit and not used yet counts as used: it is lent, and no other worker can have it. So a
limit may show a little more than the records add up to, until the lease is used or given back.
"""

import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from heterodyne.admission.limits.calendar import Calendar, LimitPeriod
from heterodyne.admission.limits.leased_counter import MEASURES, MICRO_USD_PER_USD, Measure, limits_of
from heterodyne.console.tenants_now.pages import LimitUse, TenantRow, TenantsNow
from heterodyne.console.tenants_now.service import TenantsQuery
from heterodyne.domain.refusals import RefusalRow
from heterodyne.domain.tenant import Limits, Organisation, OrganisationId, Project, ProjectId
from heterodyne.domain.usage import UsageGroup, UsageQuery, UsageRow
from heterodyne.ports.books import BookStore
from heterodyne.ports.leases import LimitCounter, LimitReader
from heterodyne.ports.tenants import PAGE_MAX, TenantStore
from heterodyne.supervisor.services.cached_value import CachedValue
from heterodyne.supervisor.workers.view import WorkerView

FRESH_S = 2.0  # several consoles that are open cost the database no more than one
REFUSED_FRESH_S = 10.0  # the records of an hour may be many
REFUSED_S = 3600.0
COUNTERS_AT_ONCE = 1000


class TenantUsageReader:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self,
        tenants: TenantStore,
        books: BookStore,
        limits: LimitReader,
        views: Callable[[], Iterable[WorkerView]],
        *,
        clock: Callable[[], float] = time.time,
        calendar: Calendar | None = None,
    ) -> None:
        self._tenants = tenants
        self._books = books
        self._limits = limits
        self._views = views
        self._clock = clock
        self._calendar = calendar or Calendar()
        self._directory = _Directory()
        self._cached_directory = CachedValue(self._read_directory, for_s=FRESH_S)
        self._used = CachedValue(self._read_usage, for_s=FRESH_S)
        self._refused = CachedValue(self._read_refusals, for_s=REFUSED_FRESH_S)

    async def tenants_now(self, query: TenantsQuery) -> TenantsNow:
        """Those with the most dollars today first, then the most requests."""
        directory, (day, usage), refusals = (
            await self._cached_directory.get(),
            await self._used.get(),
            await self._refused.get(),
        )
        projects = _with_unregistered(directory.projects, usage.values())
        found = [one for id, one in projects.items() if id.startswith(query.search)]
        found.sort(key=lambda one: _rank(usage.get(one.id), one.id))
        shown = found[: query.limit]
        queued = self._queued()
        limits = await self._limit_uses([level for one in shown for level in directory.levels_of(one)])
        refused = _by_project(refusals)
        rows = [
            _row(
                one,
                usage.get(one.id, UsageRow()),
                limits=[use for level, _ in directory.levels_of(one) for use in limits[level]],
                refused=refused.get(one.id, {}),
                queued=queued.get(one.id, 0),
                is_disabled=one.is_disabled or directory.is_disabled(one.organisation),
            )
            for one in shown
        ]
        return TenantsNow(day=day, tenants=tuple(rows), projects=len(found), is_cut=len(shown) < len(found))

    async def limit_use(self, top: int = 50) -> tuple[LimitUse, ...]:
        """The limits of organisations and projects of which most is used, as a share of each; for meters and alerts."""
        directory = await self._cached_directory.get()
        uses = await self._limit_uses(directory.levels())
        every = [use for of_level in uses.values() for use in of_level]
        return tuple(sorted(every, key=_used_share, reverse=True)[:top])

    async def _read_directory(self) -> "_Directory":
        """All of them, read again only when something has changed."""
        version = await self._tenants.version()
        if version != self._directory.version:
            organisations: list[Organisation] = []
            while page := await self._tenants.organisations(after=organisations[-1].id if organisations else ""):
                organisations += page
                if len(page) < PAGE_MAX:
                    break
            projects: list[Project] = []
            while found := await self._tenants.projects(after=projects[-1].id if projects else ""):
                projects += found
                if len(found) < PAGE_MAX:
                    break
            self._directory = _Directory(
                version=version,
                organisations={one.id: one for one in organisations},
                projects={one.id: one for one in projects},
            )
        return self._directory

    async def _read_usage(self) -> tuple[str, dict[ProjectId, UsageRow]]:
        """Of today, by project."""
        day = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%d")
        rows = await self._books.usage(UsageQuery(by=(UsageGroup.ORGANISATION, UsageGroup.PROJECT), since=day))
        return day, {ProjectId(row.group[UsageGroup.PROJECT]): row for row in rows}

    async def _read_refusals(self) -> tuple[RefusalRow, ...]:
        now = self._clock()
        return await self._books.refusals(now - REFUSED_S, now)

    def _queued(self) -> Tally[str]:
        counts: Tally[str] = Tally()
        for view in self._views():
            counts.update(view.queued_by_project)
        return counts

    async def _limit_uses(self, levels: "Iterable[_Level]") -> dict[str, tuple[LimitUse, ...]]:
        """By level, each read once however many projects it stands above."""
        now = self._clock()
        wanted = [
            _LimitRead(level=level, name=name, limit=limit, span=MEASURES[name][1])
            for level, limits in dict(levels).items()
            for name, limit in limits_of(limits)
        ]
        windows = {span: self._calendar.window(span, now) for span in LimitPeriod}
        counters = [LimitCounter(f"{one.level} {one.name}", windows[one.span].starts_s) for one in wanted]
        used = await self._read_counters(counters)
        found: dict[str, tuple[LimitUse, ...]] = {level: () for level, _ in levels}
        for one, amount in zip(wanted, used, strict=True):
            unit = MICRO_USD_PER_USD if MEASURES[one.name][0] is Measure.MICRO_USD else 1
            found[one.level] += (
                LimitUse(
                    level=one.level,
                    limit_name=one.name,
                    limit=one.limit / unit,
                    used=amount / unit,
                    resets_at=None if one.span is LimitPeriod.NONE else windows[one.span].ends_s,
                ),
            )
        return found

    async def _read_counters(self, counters: Sequence[LimitCounter]) -> list[int]:
        used: list[int] = []
        for start in range(0, len(counters), COUNTERS_AT_ONCE):
            used += await self._limits.read(counters[start : start + COUNTERS_AT_ONCE])
        return used


_Level = tuple[str, Limits]  # as the data plane names it, and what it may use


class _LimitRead(Struct, frozen=True, kw_only=True):
    """A limit whose counter is read."""

    level: str
    name: str
    limit: int  # in the unit that is counted
    span: LimitPeriod


class _Directory(Struct, frozen=True, kw_only=True):
    """All tenants, at one version."""

    version: int = -1  # before the first reading
    organisations: dict[OrganisationId, Organisation] = {}
    projects: dict[ProjectId, Project] = {}

    def levels_of(self, project: Project) -> list[_Level]:
        levels = [(f"project:{project.id}", project.limits)]
        if project.organisation in self.organisations:
            levels.append((f"organisation:{project.organisation}", self.organisations[project.organisation].limits))
        return levels

    def levels(self) -> list[_Level]:
        return [
            *((f"organisation:{id}", one.limits) for id, one in self.organisations.items()),
            *((f"project:{id}", one.limits) for id, one in self.projects.items()),
        ]

    def is_disabled(self, organisation: OrganisationId) -> bool:
        return organisation in self.organisations and self.organisations[organisation].is_disabled


def _with_unregistered(projects: dict[ProjectId, Project], usage: Iterable[UsageRow]) -> dict[ProjectId, Project]:
    """And those that used something and are not in the store: callers without a key, keys of the settings, the gone."""
    every = dict(projects)
    for row in usage:
        id = ProjectId(row.group[UsageGroup.PROJECT])
        if id not in every:
            every[id] = Project(id=id, organisation=OrganisationId(row.group[UsageGroup.ORGANISATION]))
    return every


def _rank(usage: UsageRow | None, id: str) -> tuple[int, int, str]:
    return (0, 0, id) if usage is None else (-usage.usd_micro, -usage.requests, id)


def _by_project(refusals: Iterable[RefusalRow]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one in refusals:
        found.setdefault(one.project, {})[one.reason] = one.requests
    return found


def _row(
    project: Project,
    usage: UsageRow,
    *,
    limits: Sequence[LimitUse],
    refused: dict[str, int],
    queued: int,
    is_disabled: bool,
) -> TenantRow:
    return TenantRow(
        project=project.id,
        organisation=project.organisation,
        tier=project.tier,
        weight=project.weight,
        is_disabled=is_disabled,
        limits=tuple(sorted(limits, key=_used_share, reverse=True)),
        requests=usage.requests,
        errors=usage.errors,
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        usd=usage.usd_micro / MICRO_USD_PER_USD,
        refused=refused,
        queued=queued,
    )


def _used_share(use: LimitUse) -> float:
    """A limit of nothing is used up from the beginning."""
    return use.used / use.limit if use.limit else float("inf")
