"""Tables of webhooks: what is taken, what is refused, and that an address is never shown."""

import json

import pytest

from heterodyne.alerts.alert import Severity
from heterodyne.alerts.evaluator import Notice, Phase
from heterodyne.alerts.message import body
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.webhook import WebhookFormat, read_webhook
from heterodyne.domain.errors import InvalidSpec

SECRET = "T0SECRET0B1"
ADDRESS = f"https://hooks.example.com/services/{SECRET}?x=1"
NOTICE = Notice(
    phase=Phase.FIRING,
    name="kv_full",
    severity=Severity.TICKET,
    subject="h100",
    summary="The KV memory of pool <h100> & friends is nearly full.",
    guide="docs/guides/alerts.md#saturation",
    since_at=100.0,
    at=400.0,
)


def test_an_address_in_the_environment_is_read_and_never_shown() -> None:
    webhook = read_webhook("chat", {"url_env": "HOOK", "format": "slack"}, {"HOOK": ADDRESS + "\n"})
    assert (webhook.host, webhook.port, webhook.tls) == ("hooks.example.com", 443, True)
    assert webhook.path == f"/services/{SECRET}?x=1"
    assert webhook.format is WebhookFormat.SLACK
    assert SECRET not in f"{webhook!r} {webhook} {webhook.place}"
    assert webhook.place == "https://hooks.example.com"


def test_settings_do_not_show_the_addresses_in_them() -> None:
    assert SECRET not in repr(AlertSettings(webhooks={"chat": {"url": ADDRESS}}))


def test_headers_come_from_the_environment() -> None:
    table = {"url": "http://127.0.0.1:9000", "headers_env": {"Authorization": "TOKEN"}}
    webhook = read_webhook("own", table, {"TOKEN": "Bearer abc"})
    assert webhook.headers == b"Authorization: Bearer abc\r\n"
    assert (webhook.port, webhook.path, webhook.tls) == (9000, "/", False)
    assert "abc" not in repr(webhook)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "either `url` or `url_env`"),
        ({"url": ADDRESS, "url_env": "HOOK"}, "either `url` or `url_env`"),
        ({"url_env": "ABSENT"}, "no variable ABSENT"),
        ({"url": f"ftp://example.com/{SECRET}"}, "https://"),
        ({"url": f"https:///{SECRET}"}, "have a host"),
        ({"url": f"https://example.com/{SECRET} HTTP/1.1"}, "no spaces"),
        ({"url": f"https://example.com/{SECRET}\r\nx: y"}, "no spaces"),
        ({"url": f"https://user:{SECRET}@example.com/"}, "headers_env"),
        ({"url": f"https://example.com:99999/{SECRET}"}, "port"),
        ({"url": ADDRESS, "format": "morse"}, "format"),
        ({"url": ADDRESS, "min_severity": "panic"}, "min_severity"),
        ({"url": ADDRESS, "colour": "red"}, "colour"),
        ({"url": ADDRESS, "headers_env": {"Host": "TOKEN"}}, "Host"),
        ({"url": ADDRESS, "headers_env": {"a b": "TOKEN"}}, "a b"),
        ({"url": ADDRESS, "headers_env": {"X-Token": "SPLIT"}}, "SPLIT"),
    ],
)
def test_a_table_that_cannot_be_used_says_why_without_the_address(table: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSpec) as raised:
        read_webhook("chat", table, {"TOKEN": "t", "SPLIT": "a\r\nb: c"})
    assert says in raised.value.message
    assert SECRET not in raised.value.message


@pytest.mark.parametrize(("least", "wanted"), [("ticket", {"ticket", "page"}), ("page", {"page"})])
def test_a_webhook_may_want_pages_only(least: str, wanted: set[str]) -> None:
    webhook = read_webhook("chat", {"url": ADDRESS, "min_severity": least}, {})
    assert {severity.value for severity in Severity if webhook.wants(severity)} == wanted


def test_the_generic_form_has_every_field_and_an_id_that_stays() -> None:
    message = json.loads(body(NOTICE, WebhookFormat.GENERIC, "gateway-1"))
    assert message["phase"] == "firing"
    assert (message["name"], message["severity"], message["subject"]) == ("kv_full", "ticket", "h100")
    assert (message["since_at"], message["at"], message["gateway"]) == (100.0, 400.0, "gateway-1")
    assert message["id"] == json.loads(body(NOTICE, WebhookFormat.GENERIC, "gateway-1"))["id"]


def test_the_text_form_is_one_line_that_cannot_be_read_as_markup() -> None:
    message = json.loads(body(NOTICE, WebhookFormat.SLACK, "gateway-1"))
    assert list(message) == ["text"]
    assert "&lt;h100&gt; &amp; friends" in message["text"]
    assert "\n" not in message["text"]
