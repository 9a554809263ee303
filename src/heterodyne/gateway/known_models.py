"""The models that one caller may know of: nobody is told a name, in a list or in an error, that his key may not use."""

from heterodyne.admission.scopes import visible
from heterodyne.domain.errors import NotAllowed, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.tenant import Caller
from heterodyne.routing.no_replica import unknown_model


def is_visible(name: str, caller: Caller) -> bool:
    """Whether the caller may use what this name means; one that means nothing may be asked for in vain."""
    return bool(visible(caller, (name,)))


def check_visible(name: str, caller: Caller) -> None:
    """Raise alike for models that are there and models that are not, so that neither can be guessed at."""
    if not is_visible(name, caller):
        raise NotAllowed(f"This key may not use the model {name[:100]!r}.", param="model")


def no_such_model(name: str, caller: Caller, fleet: FleetSnapshot) -> UnknownModel:
    """The error for a name that nobody serves, with the names that the caller may use instead."""
    return UnknownModel(unknown_model(name, visible(caller, fleet.names)), param="model")
