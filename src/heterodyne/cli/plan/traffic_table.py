"""A traffic profile as tables for people."""

import click

from heterodyne.cli.output import print_table
from heterodyne.planning.traffic.shared_prefix import SharedPrefix
from heterodyne.planning.traffic.traffic_profile import TrafficProfile

BAR_WIDTH = 40


def print_profile(profile: TrafficProfile) -> None:
    """Rates and shares, lengths, what caches would find, and the hours of the day."""
    print_table(
        ("WHAT", "VALUE"),
        [
            ["requests", f"{profile.requests:,} in {profile.span_s / 3600:,.2f} h"],
            ["requests/s", f"{profile.requests_per_s:,.2f}, {profile.peak_requests_per_s:,.2f} in the busiest minute"],
            ["burstiness", f"{profile.burstiness:.2f} (0 a metronome, 1 chance, more in bursts)"],
            ["at once", _at_once(profile.concurrency_peak)],
            ["cached", _cached(profile.cached_share)],
            ["shared prefix", _shared(profile.shared_prefix)],
        ],
    )
    click.echo()
    print_table(
        ("TOKENS", "MEAN", "P50", "P90", "P99", "LONGEST"),
        [
            [name, f"{one.mean:,.0f}", *(f"{count:,}" for count in (one.p50, one.p90, one.p99, one.longest))]
            for name, one in (("prompt", profile.prompt), ("output", profile.output))
        ],
    )
    if profile.shared_prefix is not None:
        click.echo()
        print_table(
            ("CACHE OF KV TOKENS", "FINDS OF PROMPT TOKENS"),
            [[f"{one.kv_tokens:,}", f"{one.share:.1%}"] for one in profile.shared_prefix.by_size],
        )
    busiest = max(profile.hourly_share)
    click.echo("\nby hour of the day, UTC")
    for hour, share in enumerate(profile.hourly_share):
        if share:
            click.echo(f"  {hour:02}  {share:6.1%}  {'█' * max(1, round(share / busiest * BAR_WIDTH))}")


def _at_once(peak: int | None) -> str:
    if peak is None:
        return "unknown: the log has no durations (--s-per-output-token estimates them)"
    return str(peak)


def _cached(share: float | None) -> str:
    return "unknown: the log has no counts of cached tokens" if share is None else f"{share:.0%} of prompt tokens"


def _shared(found: SharedPrefix | None) -> str:
    if found is None:
        return "unknown: the log has no hashes of blocks"
    return f"{found.share:.0%} of prompt tokens; to forget nothing takes {found.distinct_tokens:,} tokens of KV"
