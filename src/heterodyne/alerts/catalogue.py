"""Every alert there is."""

from heterodyne.alerts.alert import Alert
from heterodyne.alerts.families import (
    abuse,
    bookkeeping,
    budget,
    burn,
    certificates,
    discovery,
    gateways,
    guards,
    latency,
    prediction,
    replicas,
    saturation,
    scaling,
)

ALERTS: tuple[Alert, ...] = (
    *burn.ALERTS,
    *saturation.ALERTS,
    *latency.ALERTS,
    *prediction.ALERTS,
    *replicas.ALERTS,
    *budget.ALERTS,
    *bookkeeping.ALERTS,
    *guards.ALERTS,
    *abuse.ALERTS,
    *certificates.ALERTS,
    *discovery.ALERTS,
    *gateways.ALERTS,
    *scaling.ALERTS,
)
