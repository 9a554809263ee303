"""The paths of the admin API about the registry of models."""

from collections.abc import Mapping

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.errors import ServiceBusy
from heterodyne.console.guard import Guard
from heterodyne.console.query_params import check_names, read_whole
from heterodyne.console.registry.forms import NAME_CHARS_MAX, RegistryCheck, RegistryCollection, check_name
from heterodyne.console.registry.pages import RegistryPage, RegistryVersionPage, VerifiedPage
from heterodyne.console.registry.service import LIMIT_DEFAULT, RegistryChanges, RegistryQuery, RegistryService
from heterodyne.domain.errors import InvalidField, SettingsInvalid, StoreUnavailable, UnknownName, WeightsUnavailable
from heterodyne.registry.catalog.facts import Collected

LIMIT_MAX = 500
WORDS = (
    QueryWord(
        name="limit",
        description="How many versions at most.",
        schema={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    ),
    QueryWord(name="search", description="Only models whose name begins so."),
)


def registry_routes(guard: Guard, registry: RegistryService, changes: RegistryChanges) -> list[AdminRoute]:
    """What may be seen and done. Importing, building and signing need files and keys that a gateway has not."""

    async def versions(request: Request) -> RegistryPage:
        return await registry.versions(_query(request.query_params))

    async def version(request: Request) -> RegistryVersionPage:
        name = request.path_params["name"]
        check_name(name)
        return await registry.version(name)

    return [
        AdminRoute(
            method="GET",
            path="/admin/registry",
            endpoint=guard.reading(versions),
            summary="List the versions of models with their artifacts",
            query=WORDS,
            answer=RegistryPage,
            raises=(SettingsInvalid, StoreUnavailable),
        ),
        AdminRoute(
            method="GET",
            path="/admin/registry/{name}",
            endpoint=guard.reading(version),
            summary="Show a version, what runs on which hardware, and what can be built",
            answer=RegistryVersionPage,
            raises=(UnknownName, SettingsInvalid, StoreUnavailable),
        ),
        AdminRoute(
            method="POST",
            path="/admin/registry/verify",
            endpoint=guard.changing("registry_change", "verify", RegistryCheck, changes.verify),
            summary="Read every byte of a version's artifacts and compare with what was written down",
            body=RegistryCheck,
            answer=VerifiedPage,
            raises=(UnknownName, SettingsInvalid, ServiceBusy, StoreUnavailable),
        ),
        AdminRoute(
            method="POST",
            path="/admin/registry/gc",
            endpoint=guard.changing("registry_change", "gc", RegistryCollection, changes.collect),
            summary="Remove bytes that no artifact refers to, or say what would be removed",
            body=RegistryCollection,
            answer=Collected,
            raises=(SettingsInvalid, ServiceBusy, StoreUnavailable, WeightsUnavailable),
        ),
    ]


def _query(params: Mapping[str, str]) -> RegistryQuery:
    check_names(params, {word.name for word in WORDS})
    search = params.get("search", "")
    if len(search) > NAME_CHARS_MAX:
        raise InvalidField(f"search: at most {NAME_CHARS_MAX} characters are expected.", param="search")
    return RegistryQuery(limit=read_whole(params, "limit", 1, LIMIT_MAX) or LIMIT_DEFAULT, search=search)
