"""Which keys are found, until when, and what is held against them. Bounded; its one owner knows the time."""

from collections.abc import Iterable, Mapping
from typing import Final

from heterodyne.console.abuse.pages import AbuseCase
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.settings import AbuseSettings

CASES_MAX: Final = 4096  # beyond which nothing is added until some are over
SLOW_REQUESTS_PER_MINUTE: Final = 6

CaseOf = tuple[str, str]  # a policy and a key


class CaseBook:
    """Those of one gateway."""

    def __init__(self) -> None:
        self._cases: dict[CaseOf, AbuseCase] = {}
        self._quiet: dict[CaseOf, float] = {}  # what an operator has lifted, and until when it is let be
        self.turned_away = 0  # findings for which there was no room

    @property
    def cases(self) -> tuple[AbuseCase, ...]:
        """The latest first."""
        return tuple(sorted(self._cases.values(), key=lambda one: one.found_at, reverse=True))

    @property
    def quiet(self) -> dict[str, dict[str, float]]:
        """What was lifted, by policy and key, until when."""
        found: dict[str, dict[str, float]] = {}
        for (policy, key), until_at in self._quiet.items():
            found.setdefault(policy, {})[key] = until_at
        return found

    def recall(self, cases: Iterable[AbuseCase], quiet: Mapping[str, Mapping[str, float]]) -> None:
        """Go on from an earlier life."""
        self._cases = {(one.policy, one.key): one for one in cases}
        self._quiet = {(policy, key): at for policy, keys in quiet.items() for key, at in keys.items()}

    def add(self, finding: AbuseFinding, settings: AbuseSettings) -> AbuseCase | None:
        """The case that a finding begins; None: there is one, it was lifted, or there is no room."""
        of = (finding.policy, finding.key)
        if of in self._cases or self._quiet.get(of, 0.0) > finding.at:
            return None
        if len(self._cases) >= CASES_MAX:
            self.turned_away += 1
            return None
        slow = settings.requests_per_minute or SLOW_REQUESTS_PER_MINUTE
        case = AbuseCase(
            key=finding.key,
            project=finding.project,
            policy=finding.policy,
            watch=finding.watch,
            rule=finding.rule,
            action=settings.action,
            found_at=finding.at,
            until_at=finding.at + settings.hold_s,
            detail=finding.detail,
            requests_per_minute=slow if settings.action == "slow_down" else 0,
        )
        self._cases[of] = case
        return case

    def lift(self, key: str, now: float) -> tuple[tuple[AbuseCase, ...], float]:
        """The cases of a key that are over now, and until when their policies let it be."""
        lifted = tuple(case for case in self.cases if case.key == key)
        until_at = now
        for case in lifted:
            del self._cases[case.policy, key]
            until_at = max(until_at, now + case.until_at - case.found_at)
        for case in lifted:
            self._quiet[case.policy, key] = until_at
        return lifted, until_at

    def expire(self, now: float, policies: Iterable[str]) -> bool:
        """Forget what is over, and what policies found that are gone; whether a case was among it."""
        known, before = set(policies), len(self._cases)
        self._cases = {of: one for of, one in self._cases.items() if one.until_at > now and one.policy in known}
        self._quiet = {of: until_at for of, until_at in self._quiet.items() if until_at > now}
        return len(self._cases) < before

    def restrictions(self) -> tuple[KeyRestriction, ...]:
        """The hardest of each key: a block before a slower pace, that which lasts longest before others."""
        hardest: dict[str, AbuseCase] = {}
        for case in self._cases.values():
            held = hardest.get(case.key)
            if case.action != "alert" and (held is None or _hardness(case) > _hardness(held)):
                hardest[case.key] = case
        return tuple(
            KeyRestriction(
                key=key,
                action=case.action,
                policy=case.policy,
                until_at=case.until_at,
                requests_per_minute=case.requests_per_minute,
            )
            for key, case in sorted(hardest.items())
        )


def _hardness(case: AbuseCase) -> tuple[bool, float]:
    return case.action == "block", case.until_at
