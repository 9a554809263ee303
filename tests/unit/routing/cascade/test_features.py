"""What a prompt looks like in numbers."""

from heterodyne.routing.cascade import features


def of(prompt: str) -> dict[str, float]:
    return dict(zip(features.SURFACE, features.surface(prompt), strict=True))


def test_a_question_with_options_is_seen_as_one() -> None:
    seen = of("Which of the following is NOT a metal?\nA. Iron\nB. Zinc\nC. Neon\nD. Lead\nAnswer:")
    assert seen["asks_choice"] == 1
    assert seen["negation"] == 1
    assert seen["options"] > of("Which is a metal?")["options"]


def test_code_amounts_and_formulas_are_told_apart() -> None:
    assert of("Write a python function that sorts a list.")["asks_code"] == 1
    assert of("```\nimport os\n```")["code"] == 1
    assert of("How many eggs are 3 dozen?")["asks_amount"] == 1
    assert of("Find $x$ where x^2 + 3*x = 4")["latex"] == 1
    assert of("Who wrote Emma?")["asks_fact"] == 1
    assert of("Who wrote Emma?")["formula"] == 0


def test_other_languages_and_scripts_are_seen() -> None:
    assert of("Wie viele Eier legt eine Henne im Jahr ungefähr?")["foreign"] == 1
    assert of("How many eggs does a hen lay in a year?")["foreign"] == 0
    assert of("一年に卵はいくつ")["other_script"] > 0.9


def test_hashes_are_the_same_everywhere_and_each_is_there_once() -> None:
    once = features.hashed("the hen lays the egg")
    assert once == sorted(set(once))
    assert once[:2] == features.hashed("the hen lays the egg and the hen lays the egg")[:2] or set(once) <= set(
        features.hashed("the hen lays the egg and the hen lays the egg")
    )
    assert features.hashed("costs 12") == features.hashed("costs 345")
    assert features.hashed("b") == [0x71BEEFF9 % features.BUCKETS]  # CRC-32 of "b": a change breaks stored weights


def test_any_text_has_features() -> None:
    for text in ("", " ", "\n\n", "x" * 100_000, "\ud800", "\0", "?" * 50, "\n" * 16_000, " " * 16_000, "A. " * 6_000):
        assert len(features.surface(text)) == len(features.SURFACE)
        assert all(0 <= place < features.BUCKETS for place in features.hashed(text))


def test_of_a_long_prompt_both_ends_are_read() -> None:
    middle = "x " * features.CHARACTERS_MAX
    assert of(f"Prove it. {middle}")["asks_reason"] == 1
    assert of(f"{middle} Prove it.")["asks_reason"] == 1
    assert len(features.shortened(middle)) <= features.CHARACTERS_MAX + 1
