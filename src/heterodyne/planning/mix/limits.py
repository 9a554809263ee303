"""Whether so many replicas may be had, and whether they are what is wanted at least."""

from collections.abc import Mapping

from heterodyne.planning.mix.interruptions import rented
from heterodyne.planning.mix.problem import MixProblem


def are_available(problem: MixProblem, counts: Mapping[str, int]) -> bool:
    """No kind and no stock gives more than it has."""
    kinds = {kind.name: kind for kind in problem.kinds}
    limits = ((kinds[name].available, rented(kinds[name], count)) for name, count in counts.items())
    chips = chips_of_stocks(problem, counts)
    return all(limit is None or count <= limit for limit, count in limits) and all(
        stock.available is None or chips[stock.name] <= stock.available for stock in problem.stocks
    )


def are_wanted(problem: MixProblem, counts: Mapping[str, int]) -> bool:
    """Least numbers of kinds and of chips hold."""
    chips = chips_of_stocks(problem, counts)
    return all(counts.get(kind.name, 0) >= kind.minimum for kind in problem.kinds) and all(
        chips[stock.name] >= stock.minimum for stock in problem.stocks
    )


def chips_of_stocks(problem: MixProblem, counts: Mapping[str, int]) -> dict[str, int]:
    """What these replicas take from each."""
    kinds = {kind.name: kind for kind in problem.kinds}
    return {
        stock.name: sum(
            kinds[name].chips * rented(kinds[name], count)
            for name, count in counts.items()
            if kinds[name].stock == stock.name
        )
        for stock in problem.stocks
    }
