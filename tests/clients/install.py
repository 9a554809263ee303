"""Makes .venv-clients: clients that people point at the gateway, each with what it pins. A second run does nothing."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOM: Final = Path(__file__).resolve().parents[2] / ".venv-clients"
PYTHON: Final = {  # environments, and what is in each
    "frameworks": (
        *("langchain-openai", "langchain-anthropic", "langchain-google-genai", "openai-agents"),
        *("llama-index-llms-openai-like", "llama-index-embeddings-openai-like"),
    ),
    "lm-eval": ("lm_eval[api]",),
    "aider": ("aider-chat",),
}
NODE: Final = (
    *("ai", "@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic", "zod"),
    *("@openai/codex", "@anthropic-ai/claude-code"),
)


def main() -> None:
    for name, packages in PYTHON.items():
        room = ROOM / name
        if not (room / ".installed").exists():
            print(f"installing {', '.join(packages)} ...", file=sys.stderr)
            venv.create(room, with_pip=True, clear=True)
            pip = [str(room / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
            subprocess.run([*pip, *packages], check=True)
            (room / ".installed").touch()
    npm = shutil.which("npm")
    if npm is None:
        print("there is no npm here: the clients in JavaScript are left out.", file=sys.stderr)
    elif not (ROOM / "node" / ".installed").exists():
        print(f"installing {', '.join(NODE)} ...", file=sys.stderr)
        (ROOM / "node").mkdir(exist_ok=True)
        (ROOM / "node" / "package.json").write_text('{"private": true}')
        subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent", *NODE], check=True, cwd=ROOM / "node")
        (ROOM / "node" / ".installed").touch()


if __name__ == "__main__":
    main()
