"""Which prompts are nearly one, whatever stands in their slots, and which are not."""

import pytest

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.minhash import SIGNATURE_BYTES, MinHasher, similarity
from heterodyne.safety.abuse.prompt_words import CHARS_MAX, both_ends, words_of
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.abuse.similar_prompts import SimilarPrompts

HASHER = MinHasher(b"secret")
TEMPLATE = (
    "Please write a friendly answer to this customer message about {}, and explain which facts you relied on here."
)


def sign(text: str, key: str, at: float = 0.0, project: str = "a/b") -> AbuseSign:
    words = words_of(text)
    return AbuseSign(key, project, "m", "m", at, words=len(words), signature=HASHER.signature(words))


def found(signs: list[AbuseSign], **settings: object) -> set[str]:
    watch = SimilarPrompts("one", AbuseSettings(watch="similar_prompts", **settings))
    return {finding.key for sign_ in signs for finding in watch.observe(sign_)}


def spread(keys: int, each: int, **fields: object) -> list[AbuseSign]:
    topics = ("lamps", "chairs", "clocks", "doors")
    return [
        sign(TEMPLATE.format(topics[turn % 4]), f"k{key}", **fields)  # type: ignore[arg-type]
        for turn in range(each)
        for key in range(keys)
    ]


def test_words_are_small_letters_without_numbers_and_short_words() -> None:
    assert words_of("Item #17: the Green-House, a 2nd time!") == {b"item", b"green", b"house", b"time"}


def test_scripts_without_spaces_have_a_word_for_two_characters() -> None:
    assert words_of("今天天气") == {"今天".encode(), "天天".encode(), "天气".encode()}
    assert words_of("Привет мир, это ПРИВЕТ") == {"привет".encode()}


def test_of_a_long_text_both_ends_are_looked_at() -> None:
    looked_at = both_ends("first " + "x" * 10 * CHARS_MAX + " last")
    assert looked_at.startswith("first")
    assert looked_at.endswith("last")
    assert len(looked_at) == CHARS_MAX + 1


def test_a_signature_has_one_size_and_depends_on_its_secret() -> None:
    words = words_of(TEMPLATE)
    one, other = HASHER.signature(words), MinHasher(b"another").signature(words)
    assert len(one) == SIGNATURE_BYTES
    assert similarity(one, one) == 1.0
    assert similarity(one, other) < 0.1


@pytest.mark.parametrize("shared", [0.2, 0.5, 0.8])
def test_similarity_is_the_share_of_words_in_common(shared: float) -> None:
    both = [f"both{number}".encode() for number in range(int(1000 * shared))]
    rest = (1000 - len(both)) // 2
    one = HASHER.signature([*both, *(f"one{number}".encode() for number in range(rest))])
    other = HASHER.signature([*both, *(f"other{number}".encode() for number in range(rest))])
    assert similarity(one, other) == pytest.approx(shared, abs=0.2)  # more than three deviations


def test_one_template_by_many_keys_finds_all_of_them_and_nobody_else() -> None:
    others = [sign(f"Something else entirely is asked here by user number {n}, quite alone", f"u{n}") for n in range(4)]
    assert found([*others, *spread(5, 3)]) == {f"k{key}" for key in range(5)}


def test_fewer_keys_or_fewer_prompts_of_each_are_no_abuse() -> None:
    assert found(spread(4, 20)) == set()
    assert found(spread(50, 2)) == set()


def test_a_key_that_joins_later_is_found_when_it_has_sent_as_many() -> None:
    late = [sign(TEMPLATE.format("rugs"), "late") for _ in range(3)]
    assert "late" not in found([*spread(5, 3), *late[:2]])
    assert "late" in found([*spread(5, 3), *late])


def test_short_prompts_are_all_alike_and_do_not_count() -> None:
    assert found([sign("Good morning, what can you do?", f"k{key}") for _ in range(9) for key in range(9)]) == set()


def test_prompts_of_another_window_do_not_count() -> None:
    early, late = spread(3, 3, at=0.0), spread(5, 3, at=10_000.0)[:9]
    assert found([*early, *[s for s in late if s.key in {"k3", "k4"}]]) == set()


def test_keys_of_one_project_may_share_prompts_where_projects_are_counted() -> None:
    signs = spread(9, 5)
    assert found(signs, across="projects") == set()
    apart = [sign(TEMPLATE.format("lamps"), f"k{key}", project=f"o{key}/p") for _ in range(3) for key in range(5)]
    assert len(found(apart, across="projects")) == 5
