"""The same question with one promise less, to find out which promise is too much."""

from collections.abc import Iterator

from msgspec import structs

from heterodyne.planning.mix.problem import MixProblem


def relaxations(problem: MixProblem) -> Iterator[tuple[str, MixProblem]]:
    """What is given up, and the question without it; only promises that were made."""
    plenty = structs.replace(
        problem,
        kinds=tuple(structs.replace(kind, available=None) for kind in problem.kinds),
        stocks=tuple(structs.replace(stock, available=None) for stock in problem.stocks),
    )
    unbound = structs.replace(
        problem,
        kinds=tuple(structs.replace(kind, minimum=0) for kind in problem.kinds),
        stocks=tuple(structs.replace(stock, minimum=0) for stock in problem.stocks),
    )
    easier = {
        "the limits on availability": plenty,
        "the least numbers wanted": unbound,
        "the limit on spot capacity": structs.replace(problem, spot_share_max=1.0),
        "surviving the loss of a replica": structs.replace(problem, survives_one_loss=False),
        "headroom": structs.replace(problem, headroom=0.0),
    }
    for constraint, question in easier.items():
        if question != problem:
            yield constraint, question
