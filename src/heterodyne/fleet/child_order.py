"""What a llama.cpp child process reads on its standard input, as one line of JSON."""

from typing import Literal

from msgspec import Struct


class ChildOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replica to run: a model, an address and a size."""

    model_path: str
    alias: str  # the name the engine answers with
    host: str = "127.0.0.1"
    port: int = 0  # 0 lets the system choose
    context_tokens: int | None = None  # of one slot; None divides the model's own context among the slots
    slots: int = 4
    threads: int = 0  # 0 takes every core
    gpu_layers: int = -1  # -1 offloads all
    purpose: Literal["generate", "embed"] = "generate"
    chat_template: str | None = None  # Jinja text; None uses the one inside the weights
    slot_folder: str | None = None  # where slots may be saved to and restored from; None: nowhere


class ChildListening(Struct, frozen=True, kw_only=True):
    """The child's answer once it serves."""

    listening: str  # http://host:port


class ChildFailed(Struct, frozen=True, kw_only=True):
    """The child's answer when it cannot serve; its exit code is then 1."""

    error: str


class CommandOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One replica to run by a command of the operator's."""

    words: tuple[str, ...]  # with `{port}`, `{host}` and `{python}` where those belong
    health_path: str  # answers 200 once it takes work
    host: str = "127.0.0.1"
    port: int = 0
    stop_timeout_s: float = 5.0  # to end by itself when it is told to
