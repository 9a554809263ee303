"""Numbers with their nouns, as people say them."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 sequence`, `2 sequences`; a plural that is not made with an s is given."""
    return f"{count} {plural_of(count, noun, plural)}"


def plural_of(count: float, noun: str, plural: str | None = None) -> str:
    """The noun alone, in the number that the count asks for."""
    return noun if count == 1 else plural or f"{noun}s"
