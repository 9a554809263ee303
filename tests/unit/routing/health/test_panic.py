"""When the judgement of replicas is itself doubted."""

from heterodyne.routing.health.model_health import Panic


def test_half_of_the_replicas_is_enough() -> None:
    assert not Panic(0.5).judge(2, 4)


def test_fewer_than_half_is_a_panic() -> None:
    panic = Panic(0.5)
    assert panic.judge(1, 4)
    assert panic.judge(0, 4)
    assert (panic.is_on, panic.begun) == (True, 1)
    assert not panic.judge(3, 4)
    assert panic.judge(1, 3)
    assert panic.begun == 2


def test_a_share_of_zero_never_panics() -> None:
    assert not Panic(0.0).judge(0, 4)
