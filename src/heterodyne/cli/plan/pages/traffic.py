"""The page of `plan traffic`: how much, how long, how bursty, and when."""

from msgspec import Struct

from heterodyne.cli.plan.pages.bars import BarSegment, columns, stacked_bar
from heterodyne.cli.plan.pages.element import Markup, element
from heterodyne.cli.plan.pages.page import PageVerdict, Provenance, figure, page, paragraph, section
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.cli.plan.pages.tone import Tone
from heterodyne.planning.traffic.shared_prefix import CacheShare, SharedPrefix
from heterodyne.planning.traffic.traffic_profile import Lengths, TrafficProfile

HONESTY = (
    "Everything here was counted from the log and from nothing else; what the log does not say is unknown. "
    "Requests at once rest on the durations of the log, or on the time for each output token that was given instead. "
    "What caches would find assumes that every request reaches the replica that has its prefix."
)


class Length(Struct, frozen=True, kw_only=True):
    """One figure of a distribution of lengths."""

    name: str
    tokens: float
    share: float  # of the longest of its kind
    tone: Tone


def traffic_page(profile: TrafficProfile, *, name: str, provenance: Provenance) -> str:
    """The whole page; `name` is that of the log."""
    return page(
        title=f"Traffic of {name}",
        question=f"{profile.requests:,} requests in {profile.span_s / 3600:,.2f} h.",
        verdict=PageVerdict(
            sentence=f"{profile.requests_per_s:,.2f} requests/s, {profile.peak_requests_per_s:,.2f} in the busiest "
            f"minute; {profile.prompt.mean:,.0f} prompt and {profile.output.mean:,.0f} output tokens on average; "
            f"{_bursts(profile.burstiness)}."
        ),
        sections=(_facts(profile), _lengths(profile), _hours(profile), *_caches(profile.shared_prefix)),
        honesty=HONESTY,
        is_modelled=False,
        provenance=provenance,
    )


def _bursts(burstiness: float) -> str:
    if burstiness < 0.8:
        return "more even than chance"
    return "as even as chance makes it" if burstiness <= 1.2 else "in bursts"


def _facts(profile: TrafficProfile) -> Markup:
    peak, cached, shared = profile.concurrency_peak, profile.cached_share, profile.shared_prefix
    facts = {
        "requests/s": f"{profile.requests_per_s:,.2f}",
        "in the busiest minute": f"{profile.peak_requests_per_s:,.2f}",
        "burstiness: 0 a metronome, 1 chance": f"{profile.burstiness:.2f}",
        "at once, at most": "unknown" if peak is None else f"{peak:,}",
        "found in engines' caches": "unknown" if cached is None else f"{cached:.0%} of prompt tokens",
        "shared by prompts": "unknown" if shared is None else f"{shared.share:.0%} of prompt tokens",
    }
    boxes = (element("div", element("dt", what), element("dd", value)) for what, value in facts.items())
    return section("In short", element("dl", *boxes, class_="facts"))


def _lengths(profile: TrafficProfile) -> Markup:
    rows = [
        Length(name=f"{name}, {what}", tokens=tokens, share=tokens / max(1, lengths.longest), tone=tone)
        for name, lengths, tone in (("prompt", profile.prompt, Tone.BLUE), ("output", profile.output, Tone.ORANGE))
        for what, tokens in _named(lengths)
    ]
    shown = [
        Column[Length](heading="length", cell=lambda row: row.name),
        Column[Length](heading="tokens", cell=lambda row: f"{row.tokens:,.0f}", is_number=True),
        Column[Length](heading="compared with the longest", cell=_length_bar),
    ]
    return section("How long", table("Tokens of prompts and of answers.", shown, rows))


def _length_bar(row: Length) -> Markup:
    part = BarSegment(name=row.name, share=row.share, tone=row.tone, tooltip=f"{row.tokens:,.0f} tokens")
    return stacked_bar([part], name=row.name, height=14.0, is_named=False)


def _named(one: Lengths) -> list[tuple[str, float]]:
    return [("mean", one.mean), ("p50", one.p50), ("p90", one.p90), ("p99", one.p99), ("longest", one.longest)]


def _hours(profile: TrafficProfile) -> Markup:
    shares = profile.hourly_share
    busiest = shares.index(max(shares))
    drawing = columns(
        shares,
        names=[f"{hour:02}" for hour in range(len(shares))],
        tooltips=[f"{hour:02} h UTC: {share:.1%}" for hour, share in enumerate(shares)],
        name=f"Requests by hour of the day; the busiest is {busiest:02} h UTC with {shares[busiest]:.1%}",
    )
    caption = f"Share of all requests by hour of the day, UTC; {busiest:02} h has {shares[busiest]:.1%}."
    short = profile.span_s < 24 * 3600
    note = (
        [paragraph("The log is shorter than a day: hours without requests may be hours without a log.")]
        if short
        else []
    )
    return section("When", figure(drawing, caption), *note)


def _caches(found: SharedPrefix | None) -> tuple[Markup, ...]:
    if found is None:
        return ()

    def bar(one: CacheShare) -> Markup:
        part = BarSegment(name="found", share=one.share, tone=Tone.TEAL, tooltip=f"{one.share:.1%}")
        return stacked_bar([part], name=f"{one.kv_tokens:,} tokens", height=14.0, is_named=False)

    shown = [
        Column[CacheShare](heading="cache of KV tokens", cell=lambda one: f"{one.kv_tokens:,}"),
        Column[CacheShare](heading="finds", cell=lambda one: f"{one.share:.1%}", is_number=True),
        Column[CacheShare](heading="0 to 100 % of prompt tokens", cell=bar),
    ]
    caption = f"To forget nothing takes {found.distinct_tokens:,} tokens of KV and finds {found.share:.0%}."
    return (section("What caches would find", table(caption, shown, found.by_size)),)
