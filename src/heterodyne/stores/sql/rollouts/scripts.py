"""The statements about rollouts, for either database."""

from collections.abc import Iterable

from heterodyne.ports.rollout_store import StoredRollout
from heterodyne.stores.sql.script import Script, Statement

COLUMNS = "id, model, revision, began_at, is_ended, document"


def read_rollouts() -> Script[tuple[StoredRollout, ...]]:
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM rollouts AS one WHERE is_ended = 0 OR began_at = "  # noqa: S608  # ours
        "(SELECT MAX(began_at) FROM rollouts AS other WHERE other.model = one.model) ORDER BY began_at, id"
    )
    return _rollouts(rows)


def read_history(model: str, most: int) -> Script[tuple[StoredRollout, ...]]:
    rows = yield Statement(
        f"SELECT {COLUMNS} FROM rollouts WHERE model = $1 ORDER BY began_at DESC, id LIMIT $2",  # noqa: S608  # ours
        (model, most),
    )
    return _rollouts(rows)


def begin(rollout: StoredRollout) -> Script[bool]:
    # One that runs keeps another of its model out: an index of the table sees to it.
    added = yield Statement(
        f"INSERT INTO rollouts ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6) "  # noqa: S608  # ours
        "ON CONFLICT DO NOTHING RETURNING id",
        _values(rollout),
    )
    return bool(added)


def save(rollout: StoredRollout) -> Script[bool]:
    saved = yield Statement(
        "UPDATE rollouts SET revision = $2, is_ended = $3, document = $4 WHERE id = $1 AND revision = $5 RETURNING id",
        (rollout.id, rollout.revision, int(rollout.is_ended), rollout.document, rollout.revision - 1),
    )
    return bool(saved)


def _values(rollout: StoredRollout) -> tuple[str | int | float, ...]:
    return (
        rollout.id,
        rollout.model,
        rollout.revision,
        rollout.began_at,
        int(rollout.is_ended),
        rollout.document,
    )


def _rollouts(rows: Iterable[tuple[object, ...]]) -> tuple[StoredRollout, ...]:
    return tuple(
        StoredRollout(
            id=str(id),
            model=str(model),
            revision=int(str(revision)),
            began_at=float(str(began_at)),
            is_ended=bool(is_ended),
            document=str(document),
        )
        for id, model, revision, began_at, is_ended, document in rows
    )
