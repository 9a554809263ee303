"""Reports of other workers: whatever order they come in, and however often, the same is known."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.routing.reports.report import LearnedSpeed, ReplicaLoad, WorkerReport, decode, encode
from heterodyne.routing.reports.report_book import ReportBook

NOW_S = 100.0
amounts = st.floats(0.0, 1e6)
engines = st.sampled_from("abcd")


@st.composite
def loads(draw: st.DrawFn) -> ReplicaLoad:
    in_flight = draw(st.integers(1, 100))
    return ReplicaLoad(
        in_flight=in_flight,
        waiting=draw(st.integers(0, in_flight)),
        patient=draw(st.integers(0, in_flight)),
        waiting_tokens=draw(amounts),
        context_tokens=draw(amounts),
        backlog_s=draw(st.floats(0.0, 10.0)),
    )


factors = st.floats(0.02, 50.0)
speeds = st.builds(
    LearnedSpeed,
    samples=st.integers(0, 5000),
    ttft_factors=st.tuples(factors, factors, factors),
    itl_factors=st.tuples(factors, factors, factors, factors),
    answer_tokens=amounts,
    prompt_rate=st.floats(0.0, 100.0),
)
reports = st.builds(
    WorkerReport,
    loads=st.dictionaries(engines, loads(), max_size=4),
    ejections=st.dictionaries(engines, st.floats(0.0, 300.0), max_size=4),
    speeds=st.dictionaries(st.sampled_from("pq"), speeds, max_size=2),
)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int, float, WorkerReport]]:
    """What some senders have reported: of each version one report, at a time that grows with it."""
    said = []
    for sender in draw(st.lists(st.sampled_from("uvwxyz"), unique=True, min_size=1)):
        made_at_s = NOW_S - 4.0
        for version in range(1, draw(st.integers(1, 4)) + 1):
            made_at_s += draw(st.floats(0.0, 1.0))
            said.append((sender, version, made_at_s, draw(reports)))
    return said


def known(book: ReportBook) -> object:
    book.forget_stale(NOW_S)
    return book.loads(NOW_S), book.ejections(NOW_S), book.speeds(), book.versions()


@given(histories(), st.randoms(use_true_random=False))
def test_hearing_is_commutative_and_idempotent(
    said: list[tuple[str, int, float, WorkerReport]], random: object
) -> None:
    in_order, shuffled = ReportBook(), ReportBook()
    for one in said:
        in_order.hear(*one)
    again = [*said, *said]
    random.shuffle(again)  # type: ignore[attr-defined]
    for one in again:
        shuffled.hear(*one)
    assert known(shuffled) == known(in_order)


@given(histories())
def test_sums_are_of_the_newest_report_of_each_sender_that_is_not_stale(
    said: list[tuple[str, int, float, WorkerReport]],
) -> None:
    book = ReportBook()
    newest = {}
    for sender, version, made_at_s, report in said:
        book.hear(sender, version, made_at_s, report)
        newest[sender] = (made_at_s, report)
    book.forget_stale(NOW_S)
    counted = [report for made_at_s, report in newest.values() if made_at_s >= NOW_S - 2.0]
    for engine in "abcd":
        in_flight = sum(report.loads[engine].in_flight for report in counted if engine in report.loads)
        heard = book.loads(NOW_S).get(engine)
        assert (heard.in_flight if heard else 0) == in_flight


@given(reports)
def test_a_report_is_read_as_it_was_written(report: WorkerReport) -> None:
    assert decode(encode(report)) == report


def test_senders_are_bounded_and_the_longest_silent_goes() -> None:
    book = ReportBook(senders_max=3)
    for number in range(5):
        book.hear(f"s{number}", 1, NOW_S + number, WorkerReport())
    assert set(book.versions()) == {"s2", "s3", "s4"}
