"""Synthetic prompts: common words of about one token each, the same for the same seed and number."""

from random import Random

# Short common words: one token each, with the space before them, in the vocabularies engines use today.
WORDS = """
time year people way day man thing woman life child world school state family student group country
problem hand part place case week company system program question work government number night point
home water room mother area money story fact month lot right study book eye job word business issue
side kind head house service friend father power hour game line end member law car city name team
minute idea body back parent face level office door health person art war history party result change
morning reason research girl guy moment air teacher force education foot boy age policy music market
sense death plan interest paper space ground form support event matter center heart road step rate
table field price test list rule
""".split()  # noqa: SIM905 - words read better as prose than as a page of quotes


class Prompts:
    """Makes the prompt of request number `index`; a second call makes the same one."""

    def __init__(self, *, seed: int, shared_prefix_tokens: int) -> None:
        self._seed = seed
        self._prefix = Random(f"prefix {seed}").choices(WORDS, k=shared_prefix_tokens)  # noqa: S311 - not a secret

    def text(self, index: int, tokens: int) -> str:
        """The shared prefix, then `tokens` words that no other request of the run begins with."""
        random = Random(f"{self._seed} {index}")  # noqa: S311 - not a secret
        own = _digits(index)[:tokens]
        return " ".join(self._prefix + own + random.choices(WORDS, k=tokens - len(own)))


def _digits(index: int) -> list[str]:
    """The number written in words, so that no two prompts share a cached prefix by chance."""
    digits = []
    for _ in range(3):
        index, digit = divmod(index, len(WORDS))
        digits.append(WORDS[digit])
    return digits
