"""`heterodyne kv`: where a running gateway's KV is held, how it moves, and what that saves."""

from typing import TYPE_CHECKING, Final

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.output import bytes_in_words, print_json, print_table

if TYPE_CHECKING:
    from heterodyne.console.kv.pages import KvLinkRow, KvOriginRow, KvPage, KvPoolRow, KvReplicaRow, KvStoreRow
    from heterodyne.domain.kv_seen import KvMix, KvPrefetchSeen

HOLDERS_SHOWN: Final = 4
NONE: Final = "-"


@click.command()
@click.option("--replicas", is_flag=True, help="Replica by replica, beside their pools.")
@admin_options
def kv(*, replicas: bool, url: str, key_env: str, as_json: bool) -> None:
    """See where KV is held, how fast it moves between pools, what that saves, and what many prompts begin with.

    \b
    Examples:
      heterodyne kv
      heterodyne kv --replicas
      heterodyne kv --json
    """
    import os

    from heterodyne.cli.admin_client import AdminClient
    from heterodyne.console.kv.pages import KvPage

    page = AdminClient(url, os.environ.get(key_env)).call("GET", "/admin/kv", None, KvPage)
    if as_json:
        print_json(page)
    else:
        print_kv(page, with_replicas=replicas)


def print_kv(page: "KvPage", *, with_replicas: bool) -> None:
    """Tiers first, then stores, links, savings and beginnings, as far as there are any."""
    if not page.is_on:
        click.echo('No prompt is looked at: every model has kv = "stateless".')
        return
    print_table(
        ("POOL", "MODEL", "KV", "HELD", "OF", "ON HOSTS", "PROMPTS", "HELD %", "BROUGHT %"),
        list(map(_pool, page.pools)),
    )
    if with_replicas:
        click.echo()
        print_table(
            ("REPLICA", "POOL", "HELD", "OF", "ON ITS HOST", "PROMPTS", "HELD %", "BROUGHT %", "TRUST"),
            list(map(_replica, page.replicas)),
        )
        if page.replicas_left_out:
            click.echo(f"{page.replicas_left_out:,} more replicas, with fewer prompts.")
    if page.stores:
        click.echo()
        print_table(("STORE", "MEDIUM", "SHOULD HOLD", "OF", "PINNED", "SLOT FILES"), list(map(_store, page.stores)))
    if not page.is_moving:
        click.echo('\nNo KV is moved: no model has kv = "store", "split" or "auto".')
    if page.links:
        click.echo()
        print_table(("FROM", "TO", "BYTES/S", "LATENCY", "TRANSFERS", "TIMED", "FAILED", "STATE"), _links(page))
        if page.links_left_out:
            click.echo(f"{page.links_left_out:,} more links, used less.")
    if page.origins:
        click.echo()
        print_table(
            ("KV FROM", "BROUGHT", "FAILED", "MOVED", "SAVED", "SAVED USD", "WITHHELD"),
            list(map(_origin, page.origins)),
        )
    ahead = page.prefetches
    if ahead.taken or ahead.wasted or ahead.cancelled or ahead.failed:
        click.echo(f"\nAhead of next turns: {_ahead(ahead)}.")
    if page.prefixes:
        click.echo()
        print_table(
            ("PREFIX", "MODEL", "TOKENS", "PROMPTS LATELY", "HELD BY"),
            [
                (one.hash, one.model, f"{one.tokens:,}", f"{one.prompts:.0f}", _names(one.held_by))
                for one in page.prefixes
            ],
        )
    click.echo(f"\nPrompts are of the last {page.window_s // 60} min, transfers and savings since the workers began.")


def _pool(row: "KvPoolRow") -> tuple[str, ...]:
    return (
        row.pool,
        row.model,
        row.strategy,
        f"{row.held_tokens:,}",
        _known(row.held_tokens_max),
        bytes_in_words(round(row.host_bytes)) if row.host_bytes_max else NONE,
        *_shares(row.mix),
    )


def _replica(row: "KvReplicaRow") -> tuple[str, ...]:
    return (
        row.id,
        row.pool,
        f"{row.held_tokens:,}",
        _known(row.held_tokens_max),
        bytes_in_words(round(row.host_bytes)) if row.host_bytes_max else NONE,
        *_shares(row.mix),
        f"{row.trust:.2f}",
    )


def _store(row: "KvStoreRow") -> tuple[str, ...]:
    return (
        row.store,
        row.medium,
        bytes_in_words(round(row.held_bytes)),
        bytes_in_words(round(row.capacity_bytes)),
        bytes_in_words(round(row.pinned_bytes)),
        f"{row.files:,}" if row.files else NONE,
    )


def _links(page: "KvPage") -> list[tuple[str, ...]]:
    return [_link(row, page.at) for row in page.links]


def _link(row: "KvLinkRow", at: float) -> tuple[str, ...]:
    if row.paused_until_at is not None:
        state = f"paused for {max(0.0, row.paused_until_at - at):.0f} s"
    else:
        state = "timed" if row.timed else "as assumed"
    return (
        row.source,
        row.target,
        bytes_in_words(round(row.bytes_per_s)),
        f"{row.latency_ms:.1f} ms",
        f"{row.transfers:,}",
        f"{row.timed:,}",
        f"{row.failed:,}",
        state,
    )


def _origin(row: "KvOriginRow") -> tuple[str, ...]:
    return (
        row.origin,
        f"{row.arrived:,}",
        f"{row.failed:,}",
        bytes_in_words(round(row.byte_count)),
        f"{row.saved_s:.1f} s",
        f"{row.saved_usd:.4f}",
        f"{row.withheld:,}",
    )


def _ahead(seen: "KvPrefetchSeen") -> str:
    return (
        f"{seen.taken:,} brought and used, {seen.wasted:,} brought for nothing, {seen.cancelled:,} too late, "
        f"{seen.failed:,} failed"
    )


def _shares(mix: "KvMix") -> tuple[str, str, str]:
    """Prompts, and of their tokens those that were held and those that were brought."""
    brought = mix.host + mix.peer + mix.store + mix.prefill
    whole = mix.computed + mix.own + brought
    if not whole:
        return f"{mix.prompts:,}", NONE, NONE
    return f"{mix.prompts:,}", f"{mix.own / whole:.0%}", f"{brought / whole:.0%}"


def _known(tokens: int | None) -> str:
    return NONE if tokens is None else f"{tokens:,}"


def _names(replicas: tuple[str, ...]) -> str:
    more = len(replicas) - HOLDERS_SHOWN
    return (", ".join(replicas[:HOLDERS_SHOWN]) or "nobody") + (f" and {more} more" if more > 0 else "")
