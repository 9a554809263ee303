"""What chat and text completions have in common: the fields that bound and shape generation."""

from typing import Final

import msgspec
from msgspec import UNSET, Raw

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.lengths import AT_LEAST, AT_MOST
from heterodyne.gateway.dialects.generation_fields import GenerationFields, StreamOptions
from heterodyne.gateway.dialects.members import Members, bytes_of
from heterodyne.gateway.settings import GatewaySettings

# That steer and are not shown to the model; small ones are not worth leaving out of what is.
STEERING: Final = frozenset(
    {"model", "metadata", "logit_bias", "stop", "user", "stop_token_ids", "allowed_token_ids", "bad_words"}
)


def shown_bytes(members: Members, value_bytes: int) -> int:
    """What the model may be shown: of prompts, tools, schemas and whatever else is not known to only steer.

    Bytes tell more of tokens than characters do: a Chinese character has three, and is about as many tokens as three
    letters. What JSON puts around a message is about what a chat template does.
    """
    return value_bytes - bytes_of(members, STEERING)


def read_stream(fields: GenerationFields) -> tuple[bool, bool, bool]:
    """Whether the answer is to be a stream, with its usage at the end, and whether its options are named at all."""
    stream, options = bool(fields.stream), fields.stream_options
    if not isinstance(options, StreamOptions):
        return stream, False, options is not UNSET
    if not stream:
        raise InvalidField("stream_options: only allowed when `stream` is true.", param="stream_options")
    return stream, bool(options.include_usage), True


def check_bounds(
    settings: GatewaySettings,
    output_tokens_max: int | None,
    *,
    choices: int,
    best_of: int | None = None,
    prompts: int = 1,
) -> int:
    """Refuse numbers no model could serve; returns how many sequences are to be generated."""
    each = max(choices, best_of or 1)
    if each > settings.choices_max:
        name = "n" if choices == each else "best_of"
        raise InvalidField(f"{name}: {each} choices were asked for; the limit is {settings.choices_max}.", param=name)
    if prompts * each > settings.sequences_max:
        raise InvalidField(
            f"prompt: {prompts} prompts with {each} choices each were asked for; "
            f"the limit is {settings.sequences_max} answers in one request.",
            param="prompt",
        )
    if output_tokens_max is not None and output_tokens_max > settings.output_tokens_max:
        raise InvalidField(
            f"max_tokens: {output_tokens_max} tokens were asked for; the limit is {settings.output_tokens_max}.",
            param="max_tokens",
        )
    return prompts * each


def longest(private: dict[str, Raw], *named: int | None) -> int | None:
    """The largest of all lengths that the body names, as an engine may take any of them; None: it names none.

    A least length alone names none: beside the limit that a scope sets, engines refuse one that is larger.
    """
    most: int | None = None
    for length in named:
        if length is not None and (most is None or length > most):
            most = length
    if not private:
        return most
    lengths = [] if most is None else [most]
    at_least = 0
    for path, value in private.items():
        name = path.rpartition(".")[2]
        if name in AT_MOST and bytes(value) != b"null":
            lengths.append(_count(path, value, 1))
        elif name in AT_LEAST and bytes(value) != b"null":
            at_least = max(at_least, _count(path, value, 0))
    return max(at_least, *lengths) if lengths else None


def _count(path: str, value: Raw, least: int) -> int:
    """Engines take -1 and the like for no limit at all."""
    try:
        count = msgspec.json.decode(value, type=int)
    except msgspec.ValidationError:
        count = least - 1
    if count < least:
        raise InvalidField(f"{path}: expected a whole number of at least {least}.", param=path)
    return count
