"""Who may lead: never two at once, however their clocks are set and whatever they see late."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.supervisor.leader.lease_rule import LEADS_S, LEASE_S, TAKEOVER_S, LeaderLease, LeaseRule, LeaseStep


def test_a_lease_that_changes_is_left_to_its_holder() -> None:
    rule = LeaseRule("me")
    for second in range(20):
        assert rule.step(LeaderLease(holder="you", term=1), second, float(second)) is LeaseStep.WAIT
    assert rule.fence(19.0) is None


def test_a_lease_that_nobody_renews_is_taken_and_not_sooner() -> None:
    rule, stuck = LeaseRule("me"), LeaderLease(holder="you", term=1)
    assert rule.step(stuck, 5, 100.0) is LeaseStep.WAIT
    assert rule.step(stuck, 5, 100.0 + LEASE_S - 0.1) is LeaseStep.WAIT
    assert rule.step(stuck, 5, 100.0 + LEASE_S) is LeaseStep.TAKE


def test_a_lease_that_was_given_back_is_taken_at_once() -> None:
    assert LeaseRule("me").step(LeaderLease(holder="", term=3), 9, 0.0) is LeaseStep.TAKE


def test_a_leader_that_cannot_renew_stops_before_another_may_begin() -> None:
    rule = LeaseRule("me")
    rule.kept(4, 10.0)
    assert rule.fence(10.0 + LEADS_S - 0.1) == 4
    assert rule.fence(10.0 + LEADS_S) is None
    assert LEADS_S < LEASE_S
    assert TAKEOVER_S < 10.0


class Store:
    """A document that one writes if it is as he read it."""

    def __init__(self) -> None:
        self.lease, self.revision = LeaderLease(holder="", term=0), 0


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(0.0, 3.0), st.floats(0.0, 2.0), st.booleans()), min_size=1, max_size=80
    )
)
def test_never_two_lead_at_once_and_terms_only_grow(turns: list[tuple[int, float, float, bool]]) -> None:
    """Gateways have turns at any time, answers of the store take their time or never come, clocks are hours apart."""
    store, now_s = Store(), 0.0
    rules = [LeaseRule(name) for name in "abc"]
    offsets = (0.0, 5000.0, -7000.0)
    led: list[int] = []
    for who, wait_s, takes_s, is_answered in turns:
        now_s += wait_s
        rule, offset = rules[who], offsets[who]
        began_at_s, lease, revision = now_s, store.lease, store.revision
        step = rule.step(lease, revision, now_s + offset)
        if step is LeaseStep.WAIT:
            continue
        term = lease.term if step is LeaseStep.RENEW else lease.term + 1
        store.lease, store.revision = LeaderLease(holder="abc"[who], term=term), revision + 1
        now_s += takes_s
        if is_answered:
            rule.kept(term, began_at_s + offset)
        leaders = [one.fence(now_s + apart) for one, apart in zip(rules, offsets, strict=True)]
        terms = [one for one in leaders if one is not None]
        assert len(terms) <= 1, leaders
        led += terms
    assert led == sorted(led)
