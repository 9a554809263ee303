"""What guards, caches and cascades did, made up."""

from heterodyne.console.policies.pages import (
    CacheFigures,
    CachePage,
    CacheRow,
    CascadeFigures,
    CascadePage,
    CascadeRow,
    GuardFailures,
    GuardPage,
    GuardRow,
    HitPage,
    RuleCount,
    SemanticFigures,
)
from heterodyne.domain.guard_hit import GuardHit
from heterodyne.domain.guard_verdict import GuardVerdict

SPAN = {"since_at": 0.0, "until_at": 3600.0}
RULES = tuple(
    RuleCount(guard="pii", rule=rule, direction="input", action="mask", found=found)
    for rule, found in (("email", 1234), ("iban", 5), ("name", 4), ("place", 1))
)
GUARDS = GuardPage(
    guards=(
        GuardRow(
            policy="private",
            guard="pii",
            action="mask",
            direction="both",
            is_set=True,
            found=1244,
            found_last_minute=12,
            rules=RULES,
        ),
        GuardRow(
            policy="gone",
            guard="words",
            action="block",
            direction="",
            is_set=False,
            found=0,
            found_last_minute=0,
            rules=(),
        ),
    ),
    failures=(GuardFailures(direction="input", failures=3, failures_last_minute=0),),
    **SPAN,
)
HITS = HitPage(
    hits=(
        GuardHit(
            id="x-1",
            at=1_700_000_000.0,
            request="req_2a3a52b7992f00000008",
            project="acme/search",
            model="llama-3.1-8b",
            verdict=GuardVerdict(
                policy="private",
                guard="pii",
                version="1",
                rule="email",
                action="mask",
                direction="input",
                where="messages[0].content",
                start=4,
                end=24,
                score=0.5,
            ),
        ),
    ),
    is_cut=True,
)
CACHES = CachePage(
    caches=(
        CacheRow(
            cache="kept",
            is_set=True,
            ttl_s=60.0,
            figures=CacheFigures(hits=60, similar=10, misses=30, saved_usd=1.5, hit_share=0.7),
            last_minute=CacheFigures(hits=1, misses=2, hit_share=1 / 3),
            semantic=SemanticFigures(
                mode="shadow",
                error_share_max=0.01,
                decided=1000,
                served=0,
                would_serve=200,
                compared=190,
                wrong=3,
                wrong_share=3 / 190,
                account_requests=1000,
                account_wrong_max=8,
                account_wrong_share_max=0.008,
            ),
        ),
    ),
    entries=90,
    size_bytes=123_456,
    size_bytes_max=67_108_864,
    prompts=80,
    is_shared=True,
    refused=1,
    **SPAN,
)
CASCADES = CascadePage(
    cascades=(
        CascadeRow(
            cascade="smart",
            is_set=True,
            cheap="mixtral",
            big="gpt-4",
            problem="",
            loss_share_max=0.05,
            confidence=0.9,
            audit_share=0.01,
            figures=CascadeFigures(
                requests=100,
                kept=70,
                escalated=30,
                saved_usd=13.0,
                cost_share=0.35,
                answered_ms=940.2,
                big_ms=1710.0,
                audited=81,
                audited_different=3,
            ),
            last_minute=CascadeFigures(),
            reasons=(),
            different_share=3 / 81,
            different_share_max=0.12,
        ),
    ),
    **SPAN,
)
