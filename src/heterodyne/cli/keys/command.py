"""`heterodyne keys`: issue, show, rotate and revoke the keys of projects."""

import time
from typing import TYPE_CHECKING

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.tenants.options import duration, limit_option, scope_option, warn_late
from heterodyne.domain.urgency import Tier

if TYPE_CHECKING:
    from heterodyne.console.tenants.pages import KeyIssued
    from heterodyne.ports.tenant_changes import KeyView

AS_PROJECT = "project"  # the tier of a key that has none of its own

tier_option = click.option(
    "--tier", type=click.Choice([*(tier.value for tier in Tier), AS_PROJECT]), help="Its tier; else the project's."
)
name_option = click.option("--name", metavar="TEXT", help="What it is for, for people.")
expires_option = click.option("--expires-in", "expires_in_s", type=duration, help="How long it works, such as 90d.")


@click.group()
def keys() -> None:
    """Keys of projects: issued once, shown once, rotated with an overlap, revoked at once.

    \b
    Examples:
      heterodyne keys create acme/search --name "nightly job" --expires-in 90d
      heterodyne keys list --project acme/search
      heterodyne keys rotate key_0123456789abcdef0123 --overlap 1h
      heterodyne keys revoke key_0123456789abcdef0123
    """


@keys.command("list")
@click.option("--project", metavar="NAME", help="Only keys of this project.")
@click.option("--all", "with_spent", is_flag=True, help="Expired and revoked ones, too.")
@admin_options
@pass_invocation
def list_keys(
    invocation: Invocation, *, project: str | None, with_spent: bool, url: str, key_env: str, as_json: bool
) -> None:
    """List keys; of their secrets nothing is known.

    \b
    Examples:
      heterodyne keys list
      heterodyne keys list --project acme/search --all --json
    """
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.cli.tenants.tenant_table import KEY_HEADER, key_rows
    from heterodyne.console.tenants import operations

    found = TenantAccess(invocation, url, key_env).all(operations.KEYS, project, with_spent=with_spent)
    if as_json:
        print_json(found)
        return
    print_table(KEY_HEADER, key_rows(found, time.time()))


@keys.command()
@click.argument("key_id", metavar="ID")
@admin_options
@pass_invocation
def show(invocation: Invocation, *, key_id: str, url: str, key_env: str, as_json: bool) -> None:
    """Show one key by its public ID.

    \b
    Examples:
      heterodyne keys show key_0123456789abcdef0123
    """
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations

    _print(TenantAccess(invocation, url, key_env).read(operations.KEY, key_id), as_json=as_json)


@keys.command()
@click.argument("project")
@name_option
@tier_option
@expires_option
@limit_option
@scope_option
@admin_options
@pass_invocation
def create(
    invocation: Invocation,
    *,
    project: str,
    name: str | None,
    tier: str | None,
    expires_in_s: float | None,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Issue a key for a PROJECT. The secret is printed this once, alone on stdout.

    \b
    Examples:
      heterodyne keys create acme/search
      heterodyne keys create acme/search --name ci --expires-in 90d --limit requests_per_minute=60
      heterodyne keys create acme/search --scope models=chat,small-* --scope operations=chat
    """
    from heterodyne.cli.tenants.options import with_limits, with_scopes
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.domain.tenant import Limits, Scopes
    from heterodyne.ports.tenant_changes import KeyDraft

    draft = KeyDraft(
        project=project,
        name=name or "",
        tier=None if tier in (None, AS_PROJECT) else Tier(tier),
        limits=with_limits(Limits(), limits),
        scopes=with_scopes(Scopes(), scopes),
        expires_at=None if expires_in_s is None else time.time() + expires_in_s,
    )
    _print_issued(TenantAccess(invocation, url, key_env).change(operations.CREATE_KEY, draft), as_json=as_json)


@keys.command()
@click.argument("key_id", metavar="ID")
@name_option
@tier_option
@expires_option
@click.option("--never-expires", is_flag=True, help="It works until it is revoked.")
@limit_option
@scope_option
@admin_options
@pass_invocation
def update(
    invocation: Invocation,
    *,
    key_id: str,
    name: str | None,
    tier: str | None,
    expires_in_s: float | None,
    never_expires: bool,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Change what is said of a key; what is not said stays, and so does the secret.

    \b
    Examples:
      heterodyne keys update key_0123456789abcdef0123 --limit requests_per_minute=10
      heterodyne keys update key_0123456789abcdef0123 --tier project --never-expires
    """
    from msgspec import UNSET

    from heterodyne.cli.tenants.options import with_limits, with_scopes
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.ports.tenant_changes import KeyEdit

    if never_expires and expires_in_s is not None:
        raise click.UsageError("say either --expires-in or --never-expires")
    if not (limits or scopes or never_expires or tier) and name is None and expires_in_s is None:
        raise click.UsageError("say what should become different")
    tenant_access = TenantAccess(invocation, url, key_env)
    now = tenant_access.read(operations.KEY, key_id)
    edit = KeyEdit(
        id=key_id,
        name=UNSET if name is None else name,
        tier=UNSET if tier is None else None if tier == AS_PROJECT else Tier(tier),
        limits=with_limits(now.limits, limits) if limits else UNSET,
        scopes=with_scopes(now.scopes, scopes) if scopes else UNSET,
        expires_at=None if never_expires else UNSET if expires_in_s is None else time.time() + expires_in_s,
    )
    done = tenant_access.change(operations.UPDATE_KEY, edit)
    _print(done.key, as_json=as_json)
    warn_late(is_applied=done.is_applied)


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap",
    "overlap_s",
    type=duration,
    default="24h",
    show_default=True,
    help="How long the old one works; 0: no longer.",
)
@expires_option
@admin_options
@pass_invocation
def rotate(
    invocation: Invocation,
    *,
    key_id: str,
    overlap_s: float,
    expires_in_s: float | None,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Issue a successor with the same rights; the old key works beside it for the overlap.

    The successor expires when the old one would have, unless --expires-in says otherwise.

    \b
    Examples:
      heterodyne keys rotate key_0123456789abcdef0123
      heterodyne keys rotate key_0123456789abcdef0123 --overlap 0 --expires-in 90d
    """
    from msgspec import UNSET

    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.ports.tenant_changes import Rotation

    rotation = Rotation(
        id=key_id,
        overlap_s=overlap_s,
        expires_at=UNSET if expires_in_s is None else time.time() + expires_in_s,
    )
    _print_issued(TenantAccess(invocation, url, key_env).change(operations.ROTATE_KEY, rotation), as_json=as_json)


@keys.command()
@click.argument("key_id", metavar="ID")
@admin_options
@pass_invocation
def revoke(invocation: Invocation, *, key_id: str, url: str, key_env: str, as_json: bool) -> None:
    """Refuse a key from now on, on every gateway, for ever.

    \b
    Examples:
      heterodyne keys revoke key_0123456789abcdef0123
    """
    from heterodyne.cli.tenants.tenant_access import TenantAccess
    from heterodyne.console.tenants import operations
    from heterodyne.console.tenants.service import Named

    done = TenantAccess(invocation, url, key_env).change(operations.REVOKE_KEY, Named(id=key_id))
    _print(done.key, as_json=as_json)
    warn_late(is_applied=done.is_applied)


def _print(key: "KeyView", *, as_json: bool) -> None:
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.cli.tenants.tenant_table import KEY_HEADER, key_rows

    if as_json:
        print_json(key)
    else:
        print_table(KEY_HEADER, key_rows((key,), time.time()))


def _print_issued(issued: "KeyIssued", *, as_json: bool) -> None:
    from heterodyne.cli.output import print_json
    from heterodyne.cli.tenants.tenant_table import moment_in_words

    if as_json:
        print_json(issued)
    else:
        click.echo(issued.secret)
        click.echo(f"{issued.key.id} for {issued.key.project}; the secret above cannot be shown again", err=True)
        if issued.note:
            click.echo(issued.note, err=True)
        if issued.replaces is not None and issued.replaces.expires_at is not None:
            click.echo(f"{issued.replaces.id} works until {moment_in_words(issued.replaces.expires_at)}", err=True)
    warn_late(is_applied=issued.is_applied)
