"""Whose requests policies hold for, and what they know when the settings change."""

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.detector import AbuseDetector
from heterodyne.safety.abuse.policy import AbusePolicies
from heterodyne.safety.abuse.settings import AbuseSettings

LOGITS = AbuseSettings(watch="extraction", logits_min=3, projects=("acme/*",), models=("big-*",))


def findings(detector: AbuseDetector, *, key: str = "k", project: str = "acme/x", model: str = "big-1") -> int:
    signs = [
        AbuseSign(key, project, "alias", model, 0.0, words=5, digest=number, has_logits=True) for number in range(5)
    ]
    return sum(len(detector.observe(sign)) for sign in signs)


def test_a_policy_holds_for_its_projects_and_models() -> None:
    detector = AbuseDetector({"one": LOGITS})
    assert findings(detector) == 3
    assert findings(detector, project="other/x") == 0
    assert findings(detector, model="small") == 0


def test_exempt_keys_neither_count_nor_are_found() -> None:
    exempt = AbuseSettings(watch="extraction", logits_min=3, exempt_keys=("k_eval*",))
    assert findings(AbuseDetector({"one": exempt}), key="k_evaluation") == 0
    assert findings(AbuseDetector({"one": exempt}), key="k_other") == 3


def test_a_policy_that_stays_as_it_is_knows_what_it_knew() -> None:
    detector = AbuseDetector({"one": LOGITS})
    sign = AbuseSign("k", "acme/x", "m", "big-1", 0.0, words=5, digest=1, has_logits=True)
    for digest in (1, 2):
        detector.observe(AbuseSign(*sign.__reduce__()[1][:8], digest, None, True))
    detector.configure({"one": LOGITS, "two": AbuseSettings(watch="cost")})
    third = AbuseSign("k", "acme/x", "m", "big-1", 0.0, 0.0, 5, b"", 3, None, True)
    assert [found.policy for found in detector.observe(third)] == ["one"]
    detector.configure({"one": AbuseSettings(watch="extraction", logits_min=2)})
    assert detector.observe(third) == [], "another policy begins anew"


def test_workers_read_prompts_only_where_a_policy_compares_them() -> None:
    policies = AbusePolicies({"one": LOGITS, "two": AbuseSettings(watch="cost", projects=("shop/*",))})
    both = policies.watched("acme/x", "alias", "big-1")
    money = policies.watched("shop/x", "alias", "big-1")
    assert both is not None
    assert (both.texts, both.verbatim) == (True, True)
    assert money is not None
    assert (money.texts, money.verbatim) == (False, False)
    assert policies.watched("other/x", "alias", "big-1") is None
