"""Makes the rows of guards: those of the settings, and those that found something and are not there any more. Pure."""

from collections.abc import Mapping

from heterodyne.console.policies.counts import PolicyCounts
from heterodyne.console.policies.pages import GuardFailures, GuardRow, RuleCount
from heterodyne.safety.settings import GuardSettings
from heterodyne.telemetry import metrics

RULES_MAX = 50  # of one policy
DIRECTIONS = ("input", "output")


def guard_rows(
    settings: Mapping[str, GuardSettings], counts: PolicyCounts, minute: PolicyCounts
) -> tuple[GuardRow, ...]:
    """In the order of the settings."""
    others = sorted(counts.names(metrics.guard_verdicts, "policy") - settings.keys())
    return tuple(_row(policy, settings.get(policy), counts, minute) for policy in (*settings, *others))


def guard_failures(counts: PolicyCounts, minute: PolicyCounts) -> tuple[GuardFailures, ...]:
    """On the way in and out."""
    return tuple(
        GuardFailures(
            direction=direction,
            failures=counts.whole(metrics.guard_failures, direction=direction),
            failures_last_minute=minute.whole(metrics.guard_failures, direction=direction),
        )
        for direction in DIRECTIONS
    )


def _row(policy: str, one: GuardSettings | None, counts: PolicyCounts, minute: PolicyCounts) -> GuardRow:
    rules = sorted(
        (
            RuleCount(
                guard=named["guard"],
                rule=named["rule"],
                direction=named["direction"],
                action=named["action"],
                found=round(amount),
            )
            for named, amount in counts.of(metrics.guard_verdicts, policy=policy)
        ),
        key=lambda rule: (-rule.found, rule.rule, rule.direction),
    )
    return GuardRow(
        policy=policy,
        guard=rules[0].guard if one is None else one.guard,
        action=rules[0].action if one is None else one.action,
        direction="" if one is None else one.direction or "",
        is_set=one is not None,
        found=sum(rule.found for rule in rules),
        found_last_minute=minute.whole(metrics.guard_verdicts, policy=policy),
        rules=tuple(rules[:RULES_MAX]),
    )
