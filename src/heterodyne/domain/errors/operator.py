"""Errors that the operator must act on."""

from heterodyne.domain.errors.base import OperatorError


class SettingsInvalid(OperatorError):
    """The settings have problems; the message lists them all."""

    code = "settings_invalid"


class PortInUse(OperatorError):
    """Something else listens on the address we were told to use."""

    code = "port_in_use"


class WeightsUnavailable(OperatorError):
    """Weights cannot be fetched from their source."""

    code = "weights_unavailable"
    retryable = True


class WeightsCorrupt(OperatorError):
    """Weights were fetched but their hash is not the declared one."""

    code = "weights_corrupt"


class UnknownName(OperatorError):
    """No chip or model of that name; the message has the nearest ones."""

    code = "unknown_name"


class InvalidSpec(OperatorError):
    """A model, a chip or a demand described by numbers that cannot be; the message has the path and the reason."""

    code = "invalid_spec"


class PlanImpossible(OperatorError):
    """No plan keeps every promise; the message says which one binds and what would relax it."""

    code = "plan_impossible"


class StoreInvalid(OperatorError):
    """A database that cannot be opened, is not ours, or was written by a newer version."""

    code = "store_invalid"


class AuditBroken(OperatorError):
    """The audit log was altered, or an entry is missing; the message says where."""

    code = "audit_broken"


class DriverUnavailable(OperatorError):
    """What runs replicas, a cluster's API or this machine, does not answer; what runs goes on running."""

    code = "driver_unavailable"
    retryable = True


class DriverRefused(OperatorError):
    """What runs replicas says no: rights, a quota, a bound of the machine; the message names the object."""

    code = "driver_refused"


class ScalerConflict(OperatorError):
    """Somebody else has asked for another number of replicas meanwhile; nothing was changed."""

    code = "scaler_conflict"
