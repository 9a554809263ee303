"""The page of every error, from the tree in `domain/errors/`."""

from collections.abc import Iterator

from heterodyne.cli.reference.markdown import code, table
from heterodyne.domain import errors as tree
from heterodyne.domain.errors import HeterodyneError

INTRODUCTION = """\
# Errors

An answer that is an error carries a body of OpenAI's shape, `{"error": {"message", "type", "code", "param"}}`; in a
stream whose bytes have already flowed it comes as a last event. "Whose turn" says who has to act before the same
request can succeed; where waiting is enough, it is nobody's."""
ENGINES_OWN_STATUS = frozenset({tree.EngineRefused})


def page() -> str:
    """A section per branch of the tree, a row per error."""
    branches = [
        f"## {branch.__name__}\n\n{branch.__doc__}\n\n" + _table(branch)
        for branch in HeterodyneError.__subclasses__()
        if _is_ours(branch)
    ]
    return "\n\n".join([INTRODUCTION, *branches])


def codes() -> tuple[str, ...]:
    """Every code a client or operator can meet."""
    return tuple(leaf.code for leaf in _leaves(HeterodyneError))


def _table(branch: type[HeterodyneError]) -> str:
    header = ("Code", "Status", "Worth a retry", "Whose turn", "Meaning")
    return table(header, (_row(leaf) for leaf in _leaves(branch)))


def _row(leaf: type[HeterodyneError]) -> tuple[str, ...]:
    retry = "yes" if leaf.retryable else "no"
    return (code(leaf.code), _status(leaf), retry, leaf.turn.value, leaf.__doc__ or "")


def _status(leaf: type[HeterodyneError]) -> str:
    if leaf in ENGINES_OWN_STATUS:
        return "the engine's"
    return "–" if issubclass(leaf, tree.OperatorError) else str(leaf.status)


def _leaves(branch: type[HeterodyneError]) -> Iterator[type[HeterodyneError]]:
    children = [child for child in branch.__subclasses__() if _is_ours(child)]
    if not children:
        yield branch
    for child in children:
        yield from _leaves(child)


def _is_ours(error: type[HeterodyneError]) -> bool:
    """Other modules refine errors for their own use; the page shows the tree as `domain/errors` draws it."""
    return error.__module__.startswith(f"{tree.__name__}.")
