"""`heterodyne chat`: a prompt in, the answer streamed to the terminal; without a prompt, a conversation."""

import importlib
import sys
from typing import TYPE_CHECKING

import click

from heterodyne.cli.settings_address import gateway_url

if TYPE_CHECKING:
    from heterodyne.cli.chat.chat_session import ChatSession
    from heterodyne.cli.chat.openai_client import OpenAIClient

SILENCE_S = 600.0  # how long the gateway may take between two pieces of an answer


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--url", metavar="URL", help="Gateway to ask; else the address in the settings.")
@click.option("--model", metavar="NAME", help="Model to ask; else the first that can chat.")
@click.option("--system", metavar="TEXT", help="System message put before the conversation.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Most tokens of one answer.")
@click.option("--temperature", type=click.FloatRange(0, 2), help="0 for the likeliest words, more for variety.")
@click.option("--api-key", envvar="HETERODYNE_API_KEY", show_envvar=True, help="Key the gateway wants.")
@click.option("--json", "as_json", is_flag=True, help="Print the gateway's whole answer as JSON.")
def chat(
    *,
    prompt: tuple[str, ...],
    url: str | None,
    model: str | None,
    system: str | None,
    max_tokens: int | None,
    temperature: float | None,
    api_key: str | None,
    as_json: bool,
) -> None:
    """Ask a model something, or hold a conversation when there is no PROMPT.

    \b
    Examples:
      heterodyne chat "What is a superheterodyne receiver?"
      heterodyne chat "Summarise in one line:" - < report.txt
      echo "Hello" | heterodyne chat --max-tokens 100
      heterodyne chat --system "Answer in one sentence."
      heterodyne chat --url https://llm.example.com --model qwen3-8b "Hello"
      heterodyne chat --json --temperature 0 "Count to three."
    """
    from heterodyne.cli.chat.chat_session import ChatSession, converse
    from heterodyne.cli.chat.openai_client import OpenAIClient

    question = _question(prompt)
    if as_json and question is None:
        raise click.UsageError("--json needs a prompt, for example: heterodyne chat --json 'Hello'")
    client = OpenAIClient(url or gateway_url(click.get_current_context()), api_key, SILENCE_S)
    session = ChatSession(
        client,
        model or _first_chat_model(client),
        system=system,
        max_tokens=max_tokens,
        temperature=temperature,
    )
    if question is None:
        converse(session, _read_line, _write, _talk)
    elif as_json:
        click.echo(client.answer(session.body(question)))
    else:
        _send_once(session, question)


def _question(words: tuple[str, ...]) -> str | None:
    """The words given, `-` standing for what is piped in; None calls for a conversation."""
    if not words and sys.stdin.isatty():
        return None
    # With words, stdin is read only where `-` asks for it: a service's stdin may stay open for ever.
    question = " ".join(sys.stdin.read().strip() if word == "-" else word for word in words or ("-",))
    if not question.strip():
        raise click.UsageError("the prompt is empty; for example: heterodyne chat 'Hello'")
    return question


def _first_chat_model(client: "OpenAIClient") -> str:
    models = client.models()
    if not models:
        raise click.ClickException(f"{client.url} serves no models; `heterodyne models list` shows the settings")
    return next((model.id for model in models if model.purpose in (None, "generate")), models[0].id)


def _send_once(session: "ChatSession", question: str) -> None:
    try:
        session.send(question, _write)
    finally:
        _write("\n")


def _read_line() -> str:
    importlib.import_module("readline")  # importing it gives input() line editing and a history
    return input("> ")


def _write(text: str) -> None:
    click.echo(text, nl=False)


def _talk(text: str) -> None:
    click.echo(text, err=True)
