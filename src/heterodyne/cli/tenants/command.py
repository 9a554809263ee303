"""`heterodyne tenants`: organisations and their projects, seen and changed while the gateway serves."""

from typing import TYPE_CHECKING

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.tenants.options import limit_option, scope_option, warn_late
from heterodyne.domain.urgency import Tier

if TYPE_CHECKING:
    from heterodyne.console.tenants.pages import OrganisationChanged, ProjectChanged
    from heterodyne.domain.tenant import Organisation, Project

tier_option = click.option("--tier", type=click.Choice([tier.value for tier in Tier]), help="Who gives way to whom.")
weight_option = click.option("--weight", type=float, help="Its share when there is not enough, beside the others'.")
content_option = click.option(
    "--keeps-content/--no-keeps-content",
    default=None,
    help="Whether the audit log holds prompts and answers, redacted.",
)


@click.group()
def tenants() -> None:
    """Organisations and their projects: who may ask, how much, and with what share.

    A name without a slash is an organisation, one with a slash a project of it.

    \b
    Examples:
      heterodyne tenants create acme --limit usd_per_month=500
      heterodyne tenants create acme/search --tier gold --limit requests_per_minute=600
      heterodyne tenants list
      heterodyne tenants disable acme/search
    """


@tenants.command("list")
@click.option("--organisation", metavar="NAME", help="Only this organisation and its projects.")
@admin_options
@pass_invocation
def list_tenants(invocation: Invocation, *, organisation: str | None, url: str, key_env: str, as_json: bool) -> None:
    """List organisations and projects with their limits and scopes.

    \b
    Examples:
      heterodyne tenants list
      heterodyne tenants list --organisation acme --json
    """
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.cli.tenants.tenant_table import TENANT_HEADER, tenant_rows
    from heterodyne.console.tenants import operations

    tenant_access = TenantAccess(invocation, url, key_env)
    organisations = (
        tenant_access.all(operations.ORGANISATIONS)
        if organisation is None
        else (tenant_access.read(operations.ORGANISATION, organisation),)
    )
    projects = tenant_access.all(operations.PROJECTS, organisation)
    if as_json:
        print_json({"organisations": organisations, "projects": projects})
        return
    print_table(TENANT_HEADER, tenant_rows(organisations, projects))


@tenants.command()
@click.argument("name")
@admin_options
@pass_invocation
def show(invocation: Invocation, *, name: str, url: str, key_env: str, as_json: bool) -> None:
    """Show one organisation or project.

    \b
    Examples:
      heterodyne tenants show acme
      heterodyne tenants show acme/search --json
    """
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations

    tenant_access = TenantAccess(invocation, url, key_env)
    if "/" in name:
        _print(tenant_access.read(operations.PROJECT, name), as_json=as_json)
    else:
        _print(tenant_access.read(operations.ORGANISATION, name), as_json=as_json)


@tenants.command()
@click.argument("name")
@tier_option
@weight_option
@limit_option
@scope_option
@content_option
@admin_options
@pass_invocation
def create(
    invocation: Invocation,
    *,
    name: str,
    tier: str | None,
    weight: float | None,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    keeps_content: bool | None,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Create an organisation, or a project of one.

    \b
    Examples:
      heterodyne tenants create acme --limit usd_per_month=500
      heterodyne tenants create acme/search --tier gold --weight 2 --scope models=chat,small-*
    """
    from heterodyne.cli.tenants.options import with_limits, with_scopes
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.domain.tenant import Limits, Scopes
    from heterodyne.ports.tenant_changes import OrganisationDraft, ProjectDraft

    tenant_access = TenantAccess(invocation, url, key_env)
    if "/" not in name:
        _check_organisation(tier, weight, scopes, keeps_content)
        draft = OrganisationDraft(id=name, limits=with_limits(Limits(), limits))
        _print_changed(tenant_access.change(operations.CREATE_ORGANISATION, draft), as_json=as_json)
        return
    project = ProjectDraft(
        id=name,
        tier=Tier.SILVER if tier is None else Tier(tier),
        weight=1.0 if weight is None else weight,
        limits=with_limits(Limits(), limits),
        scopes=with_scopes(Scopes(), scopes),
        keeps_content=bool(keeps_content),
    )
    _print_changed(tenant_access.change(operations.CREATE_PROJECT, project), as_json=as_json)


@tenants.command()
@click.argument("name")
@tier_option
@weight_option
@limit_option
@scope_option
@content_option
@admin_options
@pass_invocation
def update(
    invocation: Invocation,
    *,
    name: str,
    tier: str | None,
    weight: float | None,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    keeps_content: bool | None,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Change what is said of an organisation or a project; what is not said stays.

    \b
    Examples:
      heterodyne tenants update acme/search --tier bronze
      heterodyne tenants update acme/search --limit tokens_per_day=1000000 --limit requests_per_day=
      heterodyne tenants update acme/search --scope models=
    """
    from msgspec import UNSET

    from heterodyne.cli.tenants.options import with_limits, with_scopes
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.ports.tenant_changes import OrganisationEdit, ProjectEdit

    if not (limits or scopes or tier) and weight is None and keeps_content is None:
        raise click.UsageError("say what should become different")
    tenant_access = TenantAccess(invocation, url, key_env)
    if "/" not in name:
        _check_organisation(tier, weight, scopes, keeps_content)
        organisation = tenant_access.read(operations.ORGANISATION, name)
        edit = OrganisationEdit(id=name, limits=with_limits(organisation.limits, limits) if limits else UNSET)
        _print_changed(tenant_access.change(operations.UPDATE_ORGANISATION, edit), as_json=as_json)
        return
    now = tenant_access.read(operations.PROJECT, name)
    changed = ProjectEdit(
        id=name,
        tier=UNSET if tier is None else Tier(tier),
        weight=UNSET if weight is None else weight,
        limits=with_limits(now.limits, limits) if limits else UNSET,
        scopes=with_scopes(now.scopes, scopes) if scopes else UNSET,
        keeps_content=UNSET if keeps_content is None else keeps_content,
    )
    _print_changed(tenant_access.change(operations.UPDATE_PROJECT, changed), as_json=as_json)


@tenants.command()
@click.argument("name")
@admin_options
@pass_invocation
def disable(invocation: Invocation, *, name: str, url: str, key_env: str, as_json: bool) -> None:
    """Refuse every key of an organisation or a project from now on, until `enable`.

    \b
    Examples:
      heterodyne tenants disable acme
      heterodyne tenants disable acme/search
    """
    _set_disabled(invocation, name, url, key_env, is_disabled=True, as_json=as_json)


@tenants.command()
@click.argument("name")
@admin_options
@pass_invocation
def enable(invocation: Invocation, *, name: str, url: str, key_env: str, as_json: bool) -> None:
    """Let the keys of a disabled organisation or project work again.

    \b
    Examples:
      heterodyne tenants enable acme/search
    """
    _set_disabled(invocation, name, url, key_env, is_disabled=False, as_json=as_json)


def _set_disabled(
    invocation: Invocation, name: str, url: str, key_env: str, *, is_disabled: bool, as_json: bool
) -> None:
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.ports.tenant_changes import OrganisationEdit, ProjectEdit

    tenant_access = TenantAccess(invocation, url, key_env)
    if "/" in name:
        project = ProjectEdit(id=name, is_disabled=is_disabled)
        _print_changed(tenant_access.change(operations.UPDATE_PROJECT, project), as_json=as_json)
    else:
        changed = OrganisationEdit(id=name, is_disabled=is_disabled)
        _print_changed(tenant_access.change(operations.UPDATE_ORGANISATION, changed), as_json=as_json)


def _check_organisation(
    tier: str | None, weight: float | None, scopes: tuple[str, ...], keeps_content: bool | None
) -> None:
    if tier is not None or weight is not None or scopes or keeps_content is not None:
        raise click.UsageError("an organisation has limits only; tier, weight, scopes and content are a project's")


def _print_changed(done: "OrganisationChanged | ProjectChanged", *, as_json: bool) -> None:
    from heterodyne.console.tenants.pages import OrganisationChanged

    _print(done.organisation if isinstance(done, OrganisationChanged) else done.project, as_json=as_json)
    warn_late(is_applied=done.is_applied)


def _print(one: "Organisation | Project", *, as_json: bool) -> None:
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.cli.tenants.tenant_table import TENANT_HEADER, project_row, tenant_rows
    from heterodyne.domain.tenant import Organisation

    if as_json:
        print_json(one)
    elif isinstance(one, Organisation):
        print_table(TENANT_HEADER, tenant_rows((one,), ()))
    else:
        print_table(TENANT_HEADER, [project_row(one)])
