"""Who else scales is known by name, and after three changes of ours that did not last we are the one that yields."""

import msgspec

from heterodyne.fleet.kubernetes.objects import ScaledWorkload
from heterodyne.fleet.kubernetes.rivals import FIGHT_S, Rivalry, last_scaler


def workload(*managers: tuple[str, str, bool]) -> ScaledWorkload:
    fields = [
        {"manager": name, "time": at, "fieldsV1": {"f:spec": {"f:replicas" if scales else "f:template": {}}}}
        for name, at, scales in managers
    ]
    made = {"metadata": {"name": "chat", "managedFields": fields}}
    return msgspec.json.decode(msgspec.json.encode(made), type=ScaledWorkload)


def fought(*at_s: float) -> Rivalry:
    rivalry = Rivalry("Deployment chat")
    for at in at_s:
        rivalry.ask(3)
        assert rivalry.see(3, "heterodyne", at) is None
        assert rivalry.see(5, "keda", at) == "keda"
        assert rivalry.see(5, "keda", at) is None, "it is told once"
    return rivalry


def test_the_last_who_set_the_count_is_named() -> None:
    said = workload(("kubectl", "2026-01-01", True), ("helm", "2026-01-02", True), ("deployer", "2026-01-03", False))
    assert last_scaler(said) == "helm"
    assert last_scaler(workload(("kube-controller-manager", "2026", True))) == (
        "kube-controller-manager, for a HorizontalPodAutoscaler"
    )
    assert last_scaler(workload()) is None


def test_a_change_now_and_then_is_no_fight() -> None:
    assert fought(0.0, 60.0).complaint(60.0) is None
    assert fought(0.0, FIGHT_S, 2 * FIGHT_S).complaint(2 * FIGHT_S) is None


def test_three_within_half_an_hour_are_one_and_it_is_over_after_another() -> None:
    rivalry = fought(0.0, 60.0, 120.0)
    complaint = rivalry.complaint(130.0)
    assert complaint is not None
    assert complaint.startswith(
        "Deployment chat: keda changed the count 3 times after the autoscaler had, within 2 min"
    )
    assert rivalry.complaint(120.0 + FIGHT_S + 1) is None


def test_changes_that_none_of_ours_came_before_are_not_counted() -> None:
    rivalry = Rivalry("Deployment chat")
    for at in range(5):
        assert rivalry.see(at, "keda", float(at)) is None
    assert rivalry.complaint(5.0) is None
