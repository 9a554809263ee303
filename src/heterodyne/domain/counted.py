"""Numbers with their nouns, as people say them: every sentence with a count in it asks here."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 sequence`, `2 sequences`; a plural that is not made with an s is given."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def times(count: int) -> str:
    """`once`, `2 times`."""
    return "once" if count == 1 else f"{count} times"
