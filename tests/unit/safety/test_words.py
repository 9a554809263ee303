"""Words and phrases that somebody does not want to see."""

from heterodyne.safety.words import WordFinder


def found(finder: WordFinder, text: str) -> list[str]:
    return [text[one.start : one.end] for one in finder.find(text)]


def test_phrases_are_found_in_any_case_and_spacing_as_whole_words():
    finder = WordFinder(["Project Falcon", "falcon"])
    assert found(finder, "PROJECT\n falcon and a Falcon, no falconry") == ["PROJECT\n falcon", "Falcon"]


def test_a_phrase_that_may_go_on_is_waited_for():
    finder = WordFinder(["project falcon"])
    assert finder.settle("about the proj") == (10, 10)
    assert finder.settle("about project  fal") == (6, 6)
    assert finder.settle("about project falcon") == (6, 6)
    assert finder.settle("about project falconry ").judged == 23
    assert finder.settle("about project falcon. so") == (6, 24)


def test_plain_text_is_not_waited_for():
    assert WordFinder(["project falcon"]).settle("nothing of it here") == (18, 18)
