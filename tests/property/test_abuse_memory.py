"""However prompts come, what is known of them stays within its bounds and goes when its time is over."""

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.band_index import BANDS, BandIndex
from heterodyne.safety.abuse.extraction import REPEATS_KNOWN, TEMPLATES_MAX, Extraction
from heterodyne.safety.abuse.minhash import SIGNATURE_BYTES
from heterodyne.safety.abuse.prompt_clusters import SENDERS_MAX, PromptClusters
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.abuse.windowed_count import WindowedCount
from tests.support.examples import examples

WINDOW_S = 100.0

# Few different bytes, so that bands and whole signatures meet often.
signatures = st.lists(st.sampled_from(b"ab"), min_size=24, max_size=24).map(
    lambda bands: b"".join(bytes([band]) * (SIGNATURE_BYTES // BANDS) for band in bands)
)
moments = st.lists(st.floats(0, 50), min_size=1, max_size=60).map(
    lambda steps: [sum(steps[: place + 1]) for place in range(len(steps))]
)


@given(st.data(), moments)
@settings(max_examples=examples(30), deadline=None)
def test_groups_are_few_are_found_again_and_are_forgotten(data: st.DataObject, at: list[float]) -> None:
    clusters = PromptClusters(0.4, WINDOW_S, clusters_max=8)
    for moment in at:
        signature = data.draw(signatures)
        cluster = clusters.add(signature, data.draw(st.sampled_from("abc")), "a/b", moment)
        assert len(clusters) <= 8
        assert len(clusters._index) <= 8 * BANDS
        assert clusters.add(signature, "z", "a/b", moment) is not None
        assert cluster.last_at == moment
    for step in range(10):
        clusters.add(bytes([step]) * SIGNATURE_BYTES, "late", "a/b", at[-1] + 2 * WINDOW_S)
    assert all(one.last_at > at[-1] for one in clusters._clusters.values())


@given(st.lists(signatures, min_size=1, max_size=30))
@settings(max_examples=examples(30), deadline=None)
def test_an_index_that_everything_was_taken_out_of_is_empty(several: list[bytes]) -> None:
    index = BandIndex()
    for number, signature in enumerate(several):
        index.add(number, signature)
        assert number in index.near(signature)
        assert len(index.near(signature)) <= 4 * BANDS
    for number, signature in enumerate(several):
        index.remove(number, signature)
    assert len(index) == 0


def test_senders_of_one_group_are_bounded_and_the_silent_go_first() -> None:
    clusters = PromptClusters(0.4, WINDOW_S)
    for number in range(2 * SENDERS_MAX):
        cluster = clusters.add(b"x" * SIGNATURE_BYTES, f"k{number}", "a/b", number / 1000)
    assert len(cluster.senders) == SENDERS_MAX
    assert "k0" not in cluster.senders


@given(st.lists(st.tuples(signatures, st.integers(0, 99), st.floats(0, 2)), min_size=1, max_size=80))
@settings(max_examples=examples(25), deadline=None)
def test_what_is_known_of_a_key_is_bounded(asked: list[tuple[bytes, int, float]]) -> None:
    watch = Extraction("one", AbuseSettings(watch="extraction"), keys_max=3)
    for signature, digest, temperature in asked:
        sign = AbuseSign(f"k{digest % 7}", "a/b", "m", "m", 0.0, 0.0, 20, signature, digest, temperature, True, True)
        watch.observe(sign)
        assert len(watch) <= 3
        series = watch._keys[sign.key]
        assert len(series.templates) <= TEMPLATES_MAX
        assert len(series.recent) <= REPEATS_KNOWN


@given(moments)
@settings(max_examples=examples(100), deadline=None)
def test_a_windowed_count_is_never_more_than_two_windows_have_nor_less_than_none(at: list[float]) -> None:
    count = WindowedCount(WINDOW_S)
    for place, moment in enumerate(at):
        counted = count.add(moment)
        lately = sum(1 for one in at[: place + 1] if one > moment - 2 * WINDOW_S)
        assert 1 <= counted <= lately + 1e-9
    assert count.count(at[-1] + 2 * WINDOW_S) == 0
