"""What an alert is: a name, when it holds, what it says, and how both Prometheus and we ourselves judge it."""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

GUIDE = "docs/guides/alerts.md"
GATEWAY = "the gateway"  # the subject of what is about no model and no pool


class Severity(StrEnum):
    """How soon a person must act."""

    PAGE = "page"  # now: it may wake a person
    TICKET = "ticket"  # within the day


class AlertMatch(Struct, frozen=True, kw_only=True):
    """A subject of which an alert is true at this moment."""

    subject: str
    detail: str  # the figures, in a few words


Judge = Callable[[Signals, AlertSettings], tuple[AlertMatch, ...] | None]  # None: what it needs is not known now
Expression = Callable[[AlertSettings], str | None]  # None: the settings have it off


class Alert(Struct, frozen=True, kw_only=True):
    """One line of the catalogue."""

    name: str
    severity: Severity
    hold_s: int  # how long it must be true before it is sent
    summary: str  # a sentence in which {subject} stands for what it is about
    section: str  # heading of the guide, as its anchor
    labels: tuple[str, ...]  # of Prometheus, which together name the subject; empty: the gateway
    expression: Expression
    judge: Judge

    @property
    def guide(self) -> str:
        """Where to read on."""
        return f"{GUIDE}#{self.section}"

    @property
    def prometheus_name(self) -> str:
        """As alerts are usually spelt there."""
        return "Heterodyne" + "".join(word.capitalize() for word in self.name.split("_"))

    def sentence(self, finding: AlertMatch) -> str:
        """The summary of one subject, with its figures."""
        return f"{self.summary.format(subject=finding.subject)} {finding.detail}".rstrip()
