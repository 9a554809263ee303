"""`heterodyne explain`: where a request would go and why, or why one that was sent went where it did."""

import os
from hashlib import sha256
from pathlib import Path

import click

from heterodyne.cli.admin_options import admin_options


@click.command()
@click.option("--model", metavar="NAME", help="The model, alias or adapter that is asked for.")
@click.option(
    "--policy", default="", metavar="NAME", help="slo, cost, affinity, load or mix instead of the model's own."
)
@click.option(
    "--slo-ttft-ms", type=float, metavar="MS", help="Time to first token to keep, instead of the model's own."
)
@click.option("--slo-itl-ms", type=float, metavar="MS", help="Time between tokens to keep, instead of the model's own.")
@click.option("--class", "urgency", metavar="CLASS", default="interactive", show_default=True,
              help="interactive, batch or background.")  # fmt: skip
@click.option("--session", default="", metavar="ID", help="The session, as `x-heterodyne-session` names it.")
@click.option("--prompt-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Text of one user message; what replicas hold of it counts.")  # fmt: skip
@click.option(
    "--prompt-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Length of the prompt, without a text; 1000 when neither is given.",
)
@click.option("--output-tokens", type=click.IntRange(min=1), metavar="N",
              help="Length of the answer, instead of what the gateway expects.")  # fmt: skip
@click.option("--api-key-env", metavar="NAME",
              help="Environment variable with the client's API key; prompts are held per key.")  # fmt: skip
@click.option("--request", "request_id", metavar="ID", help="A request that was sent, by its `x-request-id`.")
@click.option("--latest", type=click.IntRange(min=1, max=1000), metavar="N", help="The latest requests that were sent.")
@admin_options
def explain(
    *,
    model: str | None,
    policy: str,
    slo_ttft_ms: float | None,
    slo_itl_ms: float | None,
    urgency: str,
    session: str,
    prompt_file: Path | None,
    prompt_tokens: int | None,
    output_tokens: int | None,
    api_key_env: str | None,
    request_id: str | None,
    latest: int | None,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Say where a request would go and why, replica by replica; nothing is sent. Or the same of one that was sent.

    \b
    Examples:
      heterodyne explain --model llama-70b --prompt-tokens 2000
      heterodyne explain --model llama-70b --policy cost --slo-ttft-ms 500 --slo-itl-ms 50
      heterodyne explain --model llama-70b --class batch --prompt-file prompt.txt --json
      heterodyne explain --latest 20
      heterodyne explain --request req_287afd2a42230000000e
    """
    from heterodyne.cli.admin_client import AdminClient
    from heterodyne.cli.explain.decision_table import print_explanation, print_latest, print_past
    from heterodyne.cli.output import print_json
    from heterodyne.routing.explanation.question import Question

    if sum(one is not None for one in (model, request_id, latest)) != 1:
        raise click.UsageError("name one of --model, --request and --latest")
    if prompt_file is not None and prompt_tokens is not None:
        raise click.UsageError("give either --prompt-file or --prompt-tokens")
    client = AdminClient(url, os.environ.get(key_env))
    if latest is not None:
        page = client.decisions(latest)
        print_json(page) if as_json else print_latest(page)
    elif request_id is not None:
        past = client.decision(request_id)
        print_json(past) if as_json else print_past(past)
    elif model is not None:
        explanation = client.explain(
            Question(
                model=model,
                policy=policy,
                slo_ttft_ms=slo_ttft_ms,
                slo_itl_ms=slo_itl_ms,
                urgency=urgency,
                session=session,
                prompt=None if prompt_file is None else prompt_file.read_text(encoding="utf-8", errors="replace"),
                prompt_tokens=prompt_tokens,
                output_tokens=output_tokens,
                api_key_sha256=_digest(api_key_env),
            )
        )
        print_json(explanation) if as_json else print_explanation(explanation)


def _digest(api_key_env: str | None) -> str:
    if api_key_env is None:
        return ""
    key = os.environ.get(api_key_env)
    if not key:
        raise click.UsageError(f"the environment variable {api_key_env} is not set")
    return sha256(key.encode()).hexdigest()
