"""What a person sees first."""

from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.supervisor.announce import banner

CHAT = PoolSettings(model="chatty", urls=("http://h:1",))
EMBED = PoolSettings(model="vectors", purpose="embed", urls=("http://h:2",))


def test_the_address_and_something_to_paste_are_shown() -> None:
    text = banner(Settings(pools={"e": EMBED, "c": CHAT, "d": CHAT}), 8080, needs_key=False)
    assert "ready on http://127.0.0.1:8080\n  models: vectors, chatty\n" in text
    assert "curl http://127.0.0.1:8080/v1/chat/completions" in text
    assert '"model": "chatty"' in text
    assert "Authorization" not in text
    assert text.count("heterodyne chat") == 1
    assert "--url" not in text
    assert "console" not in text


def test_a_console_is_named() -> None:
    text = banner(Settings(pools={"c": CHAT}), 8080, "http://127.0.0.1:8081", needs_key=False)
    assert "models: chatty\n  console: http://127.0.0.1:8081\n" in text


def test_a_port_chosen_by_the_system_and_a_key_are_part_of_what_is_pasted() -> None:
    text = banner(Settings(pools={"c": CHAT}), 9123, needs_key=True)
    assert '-H "Authorization: Bearer $HETERODYNE_API_KEY"' in text
    assert 'api_key=os.environ["HETERODYNE_API_KEY"])' in text
    assert 'api_key="none"' not in text
    assert "--url http://127.0.0.1:9123" in text


def test_an_address_for_everybody_is_shown_as_one_that_can_be_asked() -> None:
    for host, shown in (("0.0.0.0", "http://127.0.0.1:80"), ("::1", "https://[::1]:80")):
        gateway = GatewaySettings(host=host, tls_certificate="c.pem" if ":" in host else None, tls_key="k.pem")
        assert f"ready on {shown}\n" in banner(Settings(gateway=gateway, pools={"c": CHAT}), 80, needs_key=False)


def test_without_a_model_that_generates_there_is_nothing_to_paste() -> None:
    assert "curl" not in banner(Settings(pools={"e": EMBED}), 8080, needs_key=False)
