"""The fleet as columns for people."""

from heterodyne.console.fleet.pages import FleetPage, ReplicaRow, SettingsStanding
from heterodyne.domain.price import Price

HEADER = ("POOL", "REPLICA", "HARDWARE", "STATE", "IN FLIGHT", "RUNNING", "WAITING", "KV", "PRICE", "PROBLEM")
NOTHING = "-"


def table_rows(page: FleetPage) -> list[list[str]]:
    """One line per replica, in the order of the fleet."""
    return [
        [
            row.pool,
            row.id + ("*" if row.is_added else ""),
            _hardware(row),
            row.state.value,
            str(row.in_flight),
            _count(row.load.running if row.load else None),
            _count(row.load.waiting if row.load else None),
            NOTHING if row.load is None or row.load.kv_share is None else f"{row.load.kv_share:.0%}",
            price_in_words(row.price),
            problem_in_words(row),
        ]
        for row in page.replicas
    ]


def footnotes(page: FleetPage) -> list[str]:
    """What does not fit into the table."""
    notes = []
    if any(row.is_added for row in page.replicas):
        notes.append("* added while running; the next reload drops it")
    if not page.is_applied:
        late = [f"{row.name} ({row.version or 'starting'})" for row in page.workers if row.version != page.version]
        notes.append(f"workers not yet at version {page.version}: {', '.join(late)}")
    if page.reload is not None and not page.reload.is_good:
        notes.append("the last reload was refused:")
        notes += [f"  {problem}" for problem in page.reload.problems]
    if page.reload is not None and page.reload.needs_restart:
        notes.append(f"wait for a restart: {', '.join(page.reload.needs_restart)}")
    return [*notes, *_standing(page.settings)]


def _standing(settings: SettingsStanding) -> list[str]:
    """The settings of all gateways, where they are not the same or about to change."""
    notes = []
    if settings.apart:
        notes.append(f"gateways by other settings than here ({settings.version}):")
        notes += [
            f"  {one.gateway} ({one.version or 'it does not say which'})"
            for one in settings.others
            if one.gateway in settings.apart
        ]
    if settings.differs_at:
        notes.append(f"the file here is not the one that gateways agreed on: {', '.join(settings.differs_at)}")
    if settings.under_way:
        notes.append(f"a reload of all gateways is under way: {settings.under_way}")
    if settings.problem:
        notes.append(f"the last reload of all gateways: {settings.problem}")
    return notes


def price_in_words(price: Price) -> str:
    """By the hour, or by the million prompt and completion tokens."""
    if price.usd_per_hour is not None:
        return f"${price.usd_per_hour:.2f}/h"
    if price.is_by_token:
        prompt, completion = price.usd_per_million_prompt_tokens, price.usd_per_million_completion_tokens
        return f"${_amount(prompt)}+{_amount(completion)}/M"
    return NOTHING


def problem_in_words(row: ReplicaRow) -> str:
    """What is wrong with it, else why some worker gives it nothing."""
    if row.problems:
        more = f" (and {len(row.problems) - 1} more)" if len(row.problems) > 1 else ""
        return row.problems[0] + more
    obstacles = dict.fromkeys(one.obstacle.value for one in row.workers if one.obstacle is not None)
    return ", ".join(obstacles).replace("_", " ") or NOTHING


def _hardware(row: ReplicaRow) -> str:
    if row.hardware is None:
        return "here" if row.is_local else NOTHING
    return row.hardware if row.tp == 1 else f"{row.tp} x {row.hardware}"


def _count(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _amount(usd: float | None) -> str:
    return "?" if usd is None else f"{usd:g}"
