"""The objects of a cluster in memory: one count of versions, a history that may be forgotten, conflicts."""

import asyncio
import copy
import re
import uuid
from typing import Any

Json = dict[str, Any]
Key = tuple[str, str, str, str]  # group, plural, namespace, name


class ApiFault(Exception):
    """A no, as the API says it."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
        }


class ClusterStore:
    """One per stand-in; belongs to one event loop."""

    def __init__(self) -> None:
        self.version = 100
        self.forgotten = 0  # the last version that nobody can go on from
        self.objects: dict[Key, Json] = {}
        self.history: list[tuple[int, str, Key, Json, Json | None]] = []  # version, type, key, object, object before
        self.changed = asyncio.Condition()

    def get(self, key: Key) -> Json:
        try:
            return self.objects[key]
        except KeyError:
            raise ApiFault(404, "NotFound", f'{key[1]} "{key[3]}" not found') from None

    def list(self, group: str, plural: str, namespace: str, selector: str, name: str = "") -> list[Json]:
        return [
            one
            for (of_group, of_plural, place, of_name), one in sorted(self.objects.items())
            if (of_group, of_plural) == (group, plural)
            and namespace in ("", place)
            and name in ("", of_name)
            and matches(selector, one["metadata"].get("labels") or {})
        ]

    async def create(self, key: Key, data: Json) -> Json:
        if key in self.objects:
            raise ApiFault(409, "AlreadyExists", f'{key[1]} "{key[3]}" already exists')
        made = copy.deepcopy(data)
        made["metadata"] = {**made.get("metadata", {}), "name": key[3], "uid": uuid.uuid4().hex}
        if key[2]:
            made["metadata"]["namespace"] = key[2]
        return await self._put("ADDED", key, made, None)

    async def update(self, key: Key, data: Json) -> Json:
        before = self.get(key)
        said = data.get("metadata", {}).get("resourceVersion")
        if said is not None and said != before["metadata"]["resourceVersion"]:
            raise ApiFault(
                409,
                "Conflict",
                f'Operation cannot be fulfilled on {key[1]} "{key[3]}": the object has been modified; '
                "please apply your changes to the latest version and try again",
            )
        return await self._put("MODIFIED", key, copy.deepcopy(data), before)

    async def patch(self, key: Key, data: Json) -> Json:
        return await self.update(key, merged(self.get(key), data))

    async def delete(self, key: Key) -> Json:
        before = self.get(key)
        gone = await self._put("DELETED", key, copy.deepcopy(before), before)
        del self.objects[key]
        return gone

    def forget(self) -> None:
        """As etcd's compaction does: what went before cannot be gone on from."""
        self.forgotten = self.version
        self.history.clear()

    async def _put(self, type: str, key: Key, made: Json, before: Json | None) -> Json:
        self.version += 1
        made["metadata"]["resourceVersion"] = str(self.version)
        self.objects[key] = made
        async with self.changed:
            self.history.append((self.version, type, key, made, before))
            self.changed.notify_all()
        return made


def merged(before: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    found = dict(before) if isinstance(before, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


def matches(selector: str, labels: dict[str, str]) -> bool:
    """Whether labels are what a selector asks for: `a=b`, `a!=b`, `a in (b,c)`, `a`, `!a`."""
    return all(_holds(term.strip(), labels) for term in re.split(r",(?![^(]*\))", selector) if term.strip())


def _holds(term: str, labels: dict[str, str]) -> bool:
    if found := re.fullmatch(r"(\S+)\s+(not)?in\s*\((.*)\)", term):
        is_in = labels.get(found[1]) in {one.strip() for one in found[3].split(",")}
        return is_in != (found[2] == "not")
    if "!=" in term:
        name, value = term.split("!=")
        return labels.get(name) != value
    if "=" in term:
        name, value = re.split("==?", term)
        return labels.get(name) == value
    return term[1:] not in labels if term.startswith("!") else term in labels
