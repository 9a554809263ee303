"""How far away regions are, by the quickest answers of the last minutes."""

from heterodyne.control.region_distances import WINDOW_S, RegionDistances


class Told:
    def __init__(self) -> None:
        self.now: dict[str, float] = {}

    def __call__(self, region: str, seconds: float | None) -> None:
        if seconds is None:
            del self.now[region]
        else:
            self.now[region] = seconds


def test_the_quickest_answer_counts_and_a_region_without_a_name_has_no_distance() -> None:
    told = Told()
    distances = RegionDistances(told)
    for took_s in (0.2, 0.08, 0.3):
        distances.note("us", took_s, 0.0)
    distances.note("eu", 0.002, 0.0)
    distances.note(None, 0.001, 0.0)
    assert told.now == {"us": 0.08, "eu": 0.002}


def test_a_way_that_got_longer_is_believed_after_two_windows() -> None:
    told = Told()
    distances = RegionDistances(told)
    distances.note("us", 0.05, 0.0)
    distances.note("us", 0.09, WINDOW_S)
    assert told.now == {"us": 0.05}
    distances.note("us", 0.1, 2 * WINDOW_S)
    assert told.now == {"us": 0.09}


def test_a_region_without_a_replica_is_forgotten() -> None:
    told = Told()
    distances = RegionDistances(told)
    distances.note("us", 0.05, 0.0)
    distances.note("eu", 0.05, 0.0)
    distances.keep_only({"eu", None})
    assert set(told.now) == {"eu"}
