"""A small blocking client of the admin API for the terminal."""

import http.client
from contextlib import closing
from typing import TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from heterodyne.console.abuse.forms import AbuseLift
from heterodyne.console.abuse.pages import AbusePage, Lifted
from heterodyne.console.decisions.pages import DecisionPage
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded
from heterodyne.console.rollouts.forms import RolloutOf, RolloutStart
from heterodyne.console.rollouts.pages import RolloutPage
from heterodyne.console.scaling.forms import ScalingOf
from heterodyne.console.scaling.pages import Paused, ScalingPage
from heterodyne.domain.errors import CallerError, HeterodyneError, OperatorError, SettingsInvalid, UnknownName
from heterodyne.rollout.machine import Rollout
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

TIMEOUT_S = 10.0
RELOAD_TIMEOUT_S = 3600.0  # weights may have to be fetched first

Decoded = TypeVar("Decoded")


class AdminUnreachable(OperatorError):
    """Nothing answers at the address."""

    code = "admin_unreachable"

    @property
    def is_connection_refused(self) -> bool:
        """Whether the machine answered that nothing listens on the port."""
        return isinstance(self.__cause__, ConnectionRefusedError)


class AdminRefused(HeterodyneError):
    """The admin API answered with an error; its own words are the message."""

    code = "admin_refused"


class AdminFailure(Struct, frozen=True):
    message: str = "no reason given"
    code: str | None = None


class AdminFailureBody(Struct, frozen=True):
    """An error as the admin API writes it."""

    error: AdminFailure = AdminFailure()


# An error that names something wrong on the command line, or in the settings, ends as if it had been found here.
KINDS: dict[str | None, type[HeterodyneError]] = {
    UnknownName.code: UnknownName,
    SettingsInvalid.code: SettingsInvalid,
}


class AdminClient:
    """Speaks to one admin API."""

    def __init__(self, url: str, key: str | None) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CallerError(f'"{url}" is not a URL like http://127.0.0.1:8081')
        try:
            self._port = parts.port
        except ValueError as error:
            raise CallerError(f'"{url}" is not a URL: {error}') from error
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._host = parts.hostname
        self._is_tls = parts.scheme == "https"
        self._headers = {"content-type": "application/json"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"

    def fleet(self) -> FleetPage:
        """Everything there is to see."""
        return self.call("GET", "/admin/fleet", None, FleetPage)

    def change(self, name: str, body: Selection | Addition) -> Changed:
        """One change of the fleet, such as `drain`."""
        return self.call("POST", f"/admin/fleet/{name}", body, Changed)

    def reload(self, order: ReloadOrder) -> Reloaded:
        """Have the settings read again."""
        return self.call("POST", "/admin/reload", order, Reloaded, timeout_s=RELOAD_TIMEOUT_S)

    def rollouts(self, model: str | None) -> RolloutPage:
        """The latest of each model, or all of one."""
        query = "" if model is None else f"?model={quote(model, safe='')}"
        return self.call("GET", f"/admin/rollouts{query}", None, RolloutPage)

    def change_rollout(self, name: str, body: RolloutStart | RolloutOf) -> Rollout:
        """Start, pause, resume, promote or abort."""
        return self.call("POST", f"/admin/rollouts/{name}", body, Rollout)

    def scaling(self, model: str | None, limit: int) -> ScalingPage:
        """What the autoscaler decided lately, of one model or of all."""
        query = "" if model is None else f"&model={quote(model, safe='')}"
        return self.call("GET", f"/admin/scaling?limit={limit}{query}", None, ScalingPage)

    def change_scaling(self, name: str, model: str | None) -> Paused:
        """Pause or resume."""
        return self.call("POST", f"/admin/scaling/{name}", ScalingOf(model=model), Paused)

    def abuse(self) -> AbusePage:
        """The keys that policies against abuse have found."""
        return self.call("GET", "/admin/abuse", None, AbusePage)

    def lift_abuse(self, key: str) -> Lifted:
        """Hold nothing against a key any more."""
        return self.call("POST", "/admin/abuse/lift", AbuseLift(key=key), Lifted)

    def explain(self, question: Question) -> Explanation:
        """Where a request like this would go."""
        return self.call("POST", "/admin/explain", question, Explanation)

    def decision(self, request_id: str) -> PastDecision:
        """Why a request went where it did."""
        return self.call("GET", f"/admin/decisions/{quote(request_id, safe='')}", None, PastDecision)

    def decisions(self, limit: int) -> DecisionPage:
        """How the latest requests were placed and fared."""
        return self.call("GET", f"/admin/decisions?limit={limit}", None, DecisionPage)

    @property
    def _hint(self) -> str:
        if self._port == 0:
            return "with console.port 0 the system chose one, which the banner of `serve` names: give it as --url"
        return "is `heterodyne serve` running? console.port or --url names another address"

    def call(
        self, method: str, path: str, body: object, kind: type[Decoded], *, timeout_s: float = TIMEOUT_S
    ) -> Decoded:
        """One request of any kind; raises what the admin API refuses, and where it does not answer."""
        content = None if body is None else msgspec.json.encode(body)
        connect = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
        with closing(connect(self._host, self._port, timeout=timeout_s)) as connection:
            try:
                connection.request(method, path, content, self._headers)
                response = connection.getresponse()
                answer = response.read()
            except TimeoutError as error:
                raise AdminUnreachable(f"{self.url} did not answer in {timeout_s:g} s") from error
            except (OSError, http.client.HTTPException) as error:
                raise AdminUnreachable(f"no admin API answers at {self.url}; {self._hint}") from error
        if response.status != http.client.OK:
            raise _failure(self.url, response.status, answer)
        try:
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise AdminRefused(f"{self.url} is not an admin API of this version: {error}") from error


def _failure(url: str, status: int, answer: bytes) -> HeterodyneError:
    try:
        failure = msgspec.json.decode(answer, type=AdminFailureBody).error
    except msgspec.DecodeError:
        return AdminRefused(f"{url} answered {status}, and not as an admin API does")
    known = KINDS.get(failure.code)
    if known is not None:
        return known(failure.message)
    hint = "; name the variable that holds the key with --key-env" if status == http.client.UNAUTHORIZED else ""
    return AdminRefused(failure.message.rstrip(".") + hint)
