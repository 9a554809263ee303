"""The statements about guards, caches and cascades, for either database."""

from collections.abc import Sequence
from typing import Final

import msgspec

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.guard_hit import GuardHit, GuardHitQuery
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.domain.policy_count import PolicyCount
from heterodyne.stores.sql.books.conditions import Conditions, text
from heterodyne.stores.sql.script import Script, Statement

DROPS_MAX: Final = 1000
HIT_COLUMNS: Final = ("id", "at", "request", "project", "model", "policy", "rule", "action", "verdict")

_encode = msgspec.json.Encoder().encode
_decode_labels = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_verdict = msgspec.json.Decoder(GuardVerdict).decode


def add_counts(source: str, minute: int, counts: Sequence[PolicyCount]) -> Script[None]:
    for one in counts:
        yield Statement(
            "INSERT INTO policy_minute (minute, source, meter, labels, amount) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (minute, source, meter, labels) DO UPDATE SET amount = policy_minute.amount + excluded.amount",
            (minute, source, one.meter, text(_encode(one.labels).decode()), one.amount),
        )


def read_counts(since_at: float, until_at: float) -> Script[tuple[PolicyCount, ...]]:
    rows = yield Statement(
        "SELECT meter, labels, SUM(amount) FROM policy_minute WHERE minute >= $1 AND minute < $2 "
        "GROUP BY meter, labels ORDER BY meter, labels",
        (int(since_at), int(until_at)),
    )
    return tuple(PolicyCount(meter, _decode_labels(labels), float(amount)) for meter, labels, amount in rows)


def add_hits(hits: Sequence[GuardHit]) -> Script[None]:
    places = ", ".join(f"${place}" for place in range(1, len(HIT_COLUMNS) + 1))
    for hit in hits:
        yield Statement(
            f"INSERT INTO guard_hit ({', '.join(HIT_COLUMNS)}) VALUES ({places}) "  # noqa: S608  # columns of ours
            "ON CONFLICT DO NOTHING",
            (
                hit.id,
                hit.at,
                text(hit.request),
                text(hit.project),
                text(hit.model),
                text(hit.verdict.policy),
                text(hit.verdict.rule),
                hit.verdict.action,
                text(_encode(hit.verdict).decode()),
            ),
        )


def read_hits(query: GuardHitQuery) -> Script[tuple[GuardHit, ...]]:
    conditions = Conditions()
    conditions.add("at >= {}", query.since_at)
    conditions.add("at < {}", query.until_at)
    for column in ("policy", "rule", "action", "project", "request"):
        value = getattr(query, column)
        if value is not None:
            conditions.add(f"{column} = {{}}", text(value))
    limit = conditions.place(query.limit)
    rows = yield Statement(
        f"SELECT id, at, request, project, model, verdict FROM guard_hit {conditions.sql()} "  # noqa: S608  # ours
        f"ORDER BY at DESC, id DESC LIMIT {limit}",
        conditions.values,
    )
    return tuple(
        GuardHit(id=id, at=at, request=request, project=project, model=model, verdict=_decode_verdict(verdict))
        for id, at, request, project, model, verdict in rows
    )


def add_drop(drop: CacheDrop, until_at: float) -> Script[None]:
    """Where there would be too many, one that drops everything takes the place of all of them."""
    yield Statement("DELETE FROM cache_drop WHERE until_at <= $1", (drop.at,))
    ((count,),) = yield Statement("SELECT COUNT(*) FROM cache_drop")
    if count >= DROPS_MAX:
        ((latest,),) = yield Statement("SELECT MAX(until_at) FROM cache_drop")
        yield Statement("DELETE FROM cache_drop")
        drop, until_at = CacheDrop(at=drop.at), max(until_at, latest)
    yield Statement(
        "INSERT INTO cache_drop (tag, model, project, at, until_at) VALUES ($1, $2, $3, $4, $5) "
        "ON CONFLICT (tag, model, project) DO UPDATE SET at = excluded.at, until_at = excluded.until_at "
        "WHERE cache_drop.at < excluded.at",
        (text(drop.tag), text(drop.model), text(drop.project), drop.at, until_at),
    )


def read_drops(now: float) -> Script[tuple[CacheDrop, ...]]:
    rows = yield Statement(
        "SELECT at, tag, model, project FROM cache_drop WHERE until_at > $1 ORDER BY at, tag, model, project", (now,)
    )
    return tuple(CacheDrop(at=at, tag=tag, model=model, project=project) for at, tag, model, project in rows)


def forget(before_at: float, rows_max: int, hits_max: int) -> Script[int]:
    beyond = yield Statement("SELECT at FROM guard_hit ORDER BY at DESC LIMIT 1 OFFSET $1", (hits_max,))
    before_hits = max([before_at, *(at for (at,) in beyond)])
    hits = yield Statement(
        "DELETE FROM guard_hit WHERE id IN (SELECT id FROM guard_hit WHERE at <= $1 ORDER BY at LIMIT $2) RETURNING id",
        (before_hits, rows_max),
    )
    key = "minute, source, meter, labels"
    minutes = yield Statement(
        f"DELETE FROM policy_minute WHERE ({key}) IN "  # noqa: S608  # columns of ours
        f"(SELECT {key} FROM policy_minute WHERE minute < $1 ORDER BY minute LIMIT $2) RETURNING minute",
        (int(before_at), rows_max),
    )
    return len(hits) + len(minutes)
