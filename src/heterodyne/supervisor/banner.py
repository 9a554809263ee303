"""What a person sees when the gateway is ready: the address, and something to paste."""

from msgspec import structs

from heterodyne.config.settings import Settings
from heterodyne.gateway.settings import GatewaySettings

VARIABLE = "HETERODYNE_API_KEY"
NEEDED = f"every request brings one, here from ${VARIABLE}; `heterodyne keys create` makes one"
NOT_NEEDED = "none needed; once `heterodyne keys create` has made the first, every request needs one"


def banner(settings: Settings, port: int, console_url: str | None = None, *, needs_key: bool) -> str:
    """Addresses, curl and Python for the first model that generates text; no console where there is none.

    `needs_key` is what the gateway itself answers: keys are in the settings, and in the database.
    """
    url = gateway_url(structs.replace(settings.gateway, port=port))
    model = next((pool.model for pool in settings.pools.values() if pool.purpose == "generate"), None)
    lines = [f"\nHeterodyne is ready on {url}", f"  models: {', '.join(_models(settings))}"]
    if console_url is not None:
        lines.append(f"  console: {console_url}")
    lines.append(f"  keys: {NEEDED if needs_key else NOT_NEEDED}")
    if model is not None:
        auth = f' -H "Authorization: Bearer ${VARIABLE}"' if needs_key else ""
        key = f'os.environ["{VARIABLE}"]' if needs_key else '"none"'
        lines += [
            "",
            f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json'{auth} \\",
            f"""    -d '{{"model": "{model}", "messages": [{{"role": "user", "content": "Why is the sky blue?"}}]}}'""",
            "",
            *(["  import os"] if needs_key else []),
            "  from openai import OpenAI",
            f'  client = OpenAI(base_url="{url}/v1", api_key={key})',
            '  messages = [{"role": "user", "content": "Why is the sky blue?"}]',
            f'  print(client.chat.completions.create(model="{model}", messages=messages).choices[0].message.content)',
            "",
            '  heterodyne chat "Why is the sky blue?"' + ("" if port == 8080 else f" --url {url}"),
        ]
    return "\n".join([*lines, "", "  Ctrl-C stops it.", ""])


def gateway_url(gateway: GatewaySettings) -> str:
    """As somebody on this machine would call it."""
    host = "127.0.0.1" if gateway.host in ("0.0.0.0", "::") else gateway.host  # noqa: S104  # for display
    host = f"[{host}]" if ":" in host else host
    return f"{'https' if gateway.tls_certificate else 'http'}://{host}:{gateway.port}"


def _models(settings: Settings) -> list[str]:
    return list(dict.fromkeys(pool.model for pool in settings.pools.values()))
