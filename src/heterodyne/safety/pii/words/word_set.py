"""How lists of words are written down."""


def phrase_set(text: str) -> frozenset[str]:
    """The phrases of a text that are apart by commas or lines; a comma within one is written as a semicolon."""
    phrases = (phrase.strip().replace(";", ",") for line in text.split("\n") for phrase in line.split(","))
    return frozenset(phrase for phrase in phrases if phrase)


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are apart by spaces or lines."""
    return frozenset(text.split())
