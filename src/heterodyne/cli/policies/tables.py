"""Guards, caches and cascades as columns."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import click

from heterodyne.cli.output import bytes_in_words, print_table
from heterodyne.console.policies.pages import (
    CachePage,
    CacheRow,
    CascadePage,
    CascadeRow,
    GuardPage,
    HitPage,
    SemanticFigures,
)
from heterodyne.domain.guard_hit import GuardHit

RULES_SHOWN: Final = 3
NONE: Final = "-"
WAYS: Final = {"input": "in", "output": "out", "both": "in, out", "": NONE}


def print_guards(page: GuardPage) -> None:
    """A policy in a line."""
    if not page.guards:
        click.echo("No policies are set, and none found anything. [guards.NAME] in the settings makes one.")
        return
    print_table(
        ("POLICY", "GUARD", "DOES", "LOOKS AT", "FOUND", "LAST MINUTE", "MOSTLY"),
        [
            (
                row.policy if row.is_set else f"{row.policy} (not set)",
                row.guard,
                row.action,
                WAYS[row.direction],
                f"{row.found:,}",
                f"{row.found_last_minute:,}",
                ", ".join(f"{one.rule} {one.found:,}" for one in row.rules[:RULES_SHOWN]) or NONE,
            )
            for row in page.guards
        ],
    )
    for one in page.failures:
        if one.failures:
            click.echo(f"Not looked at on the way {WAYS[one.direction]}: {one.failures:,}.")


def print_hits(page: HitPage) -> None:
    """A finding in a line; what was found is in no record."""
    if not page.hits:
        click.echo("Nothing was found.")
        return
    print_table(
        ("AT (UTC)", "REQUEST", "PROJECT", "MODEL", "POLICY", "RULE", "DOES", "IN", "CHARACTERS", "SURE"),
        [_hit(hit) for hit in page.hits],
    )
    if page.is_cut:
        click.echo("There are more; --limit shows them.")


def print_caches(page: CachePage) -> None:
    """A policy in a line, then what is kept, then what is known of errors."""
    if not page.caches:
        click.echo("No caches are set. [caches.NAME] in the settings makes one.")
        return
    print_table(
        ("CACHE", "HITS", "SIMILAR", "MISSES", "WAITED", "HIT RATE", "SAVED", "LAST MINUTE"),
        [_cache(row) for row in page.caches],
    )
    shared = " Redis or Valkey keeps more." if page.is_shared else ""
    sizes = f"{bytes_in_words(page.size_bytes)} of {bytes_in_words(page.size_bytes_max)}"
    click.echo(f"Kept in memory: {page.entries:,} answers, {sizes}; {page.prompts:,} prompts.{shared}")
    if page.refused:
        click.echo(f"Refused from the shared store, as cut or changed: {page.refused:,}.")
    semantic = [(row.cache, row.semantic) for row in page.caches if row.semantic is not None]
    if semantic:
        click.echo()
        print_table(
            ("CACHE", "MODE", "DECIDED", "SERVED", "COMPARED", "OF THESE WRONG", "WRONG OF ALL AT MOST", "MAY BE"),
            [_semantic(name, one) for name, one in semantic],
        )


def print_cascades(page: CascadePage) -> None:
    """A cascade in a line, then what is known of quality."""
    if not page.cascades:
        click.echo("No cascades are set. [cascades.NAME] in the settings makes one.")
        return
    print_table(
        (
            "CASCADE",
            "REQUESTS",
            "KEPT",
            "ESCALATED",
            "CHEAP BY PROMPT",
            "BIG BY PROMPT",
            "SAVED",
            "COST",
            "MS",
            "BIG MS",
        ),
        [_cascade(row) for row in page.cascades],
    )
    click.echo()
    print_table(
        ("CASCADE", "CHEAP", "BIG", "QUALITY LOST AT MOST", "ASKED AGAIN", "DIFFERENT", "AT MOST"),
        [_quality(row) for row in page.cascades],
    )
    for row in page.cascades:
        if row.problem:
            click.echo(f"{row.cascade}: {row.problem}", err=True)


def _hit(hit: GuardHit) -> Sequence[str]:
    verdict = hit.verdict
    return (
        datetime.fromtimestamp(hit.at, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        hit.request,
        hit.project,
        hit.model,
        verdict.policy,
        verdict.rule,
        verdict.action,
        verdict.where or WAYS[verdict.direction],
        f"{verdict.start}-{verdict.end}" if verdict.end > verdict.start else NONE,
        f"{verdict.score:.2f}",
    )


def _cache(row: CacheRow) -> Sequence[str]:
    whole, minute = row.figures, row.last_minute
    asked = minute.hits + minute.similar + minute.misses
    return (
        row.cache if row.is_set else f"{row.cache} (not set)",
        f"{whole.hits:,}",
        f"{whole.similar:,}",
        f"{whole.misses:,}",
        f"{whole.followed:,}",
        _percent(whole.hit_share),
        _usd(whole.saved_usd),
        f"{minute.hits + minute.similar:,} of {asked:,}",
    )


def _semantic(name: str, one: SemanticFigures) -> Sequence[str]:
    return (
        name,
        one.mode,
        f"{one.decided:,}",
        f"{one.served:,}",
        f"{one.compared:,}",
        _percent(one.wrong_share),
        _percent(one.account_wrong_share_max),
        _percent(one.error_share_max),
    )


def _cascade(row: CascadeRow) -> Sequence[str]:
    one = row.figures
    return (
        row.cascade if row.is_set else f"{row.cascade} (not set)",
        f"{one.requests:,}",
        f"{one.kept:,}",
        f"{one.escalated:,}",
        f"{one.cheap_by_prompt:,}",
        f"{one.big_by_prompt:,}",
        _usd(one.saved_usd),
        NONE if one.cost_share is None else f"{one.cost_share:.0%} of the big model",
        _ms(one.answered_ms),
        _ms(one.big_ms),
    )


def _quality(row: CascadeRow) -> Sequence[str]:
    lost = NONE
    if row.loss_share_max is not None and row.confidence is not None:
        lost = f"{_percent(row.loss_share_max)}, {row.confidence:.0%} sure"
    return (
        row.cascade,
        row.cheap or NONE,
        row.big or NONE,
        lost,
        f"{row.figures.audited:,}",
        _percent(row.different_share),
        _percent(row.different_share_max),
    )


def _percent(share: float | None) -> str:
    return NONE if share is None else f"{share:.1%}" if share >= 0.01 else f"{share:.2%}"


def _usd(amount: float) -> str:
    return f"{'-' if amount < 0 else ''}${abs(amount):.4g}"


def _ms(ms: float | None) -> str:
    return NONE if ms is None else f"{ms:.0f}"
