"""What the engine loads: the published checkpoint, quantised on the way where the engine can, or a file."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.model_shapes import published_id
from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.platform import Platform

# Engines that turn a sixteen-bit checkpoint into fp8 as they read it, where the chip multiplies in it.
_QUANTISING = {(engine, where) for engine in (EngineKind.VLLM, EngineKind.SGLANG) for where in ("cuda", "rocm")}
_SIXTEEN_BITS = (Precision.BF16, Precision.FP16)


class Weights(Struct, frozen=True, kw_only=True):
    """A place, and what is to be done with it."""

    place: str
    is_quantised_on_load: bool = False
    notes: tuple[str, ...] = ()


def choose_weights(requirements: LaunchRequirements, engine: EngineKind, platform: Platform) -> Weights:
    """The place to load from; raises `InvalidSpec` when no source publishes these weights in this precision."""
    given = requirements.weights or requirements.published
    if given is not None and given.endswith(".gguf") and engine is not EngineKind.LLAMACPP:
        raise InvalidSpec(f"weights: {given} is for llama.cpp; {engine} wants a Hugging Face id or folder")
    if requirements.weights is not None:
        return Weights(place=requirements.weights)
    model = requirements.model.name
    if engine is EngineKind.LLAMACPP:
        if given is not None and given.endswith(".gguf"):
            return Weights(place=given)
        place = f"/models/{model}-{requirements.precision}.gguf"
        return Weights(
            place=place, notes=(f"llama.cpp reads GGUF; put {model} in {requirements.precision} at {place}",)
        )
    found = requirements.published or published_id(model)
    if found is None:
        raise InvalidSpec(f"weights: nobody is known to publish {model}; name a Hugging Face id or path with --weights")
    return _as_published(requirements, engine, platform, found)


def is_path(place: str) -> bool:
    """Whether weights lie in a file or folder, not under an id of a hub."""
    return place.startswith(("/", "./", "../", "~")) or place.endswith(".gguf")


def _as_published(requirements: LaunchRequirements, engine: EngineKind, platform: Platform, place: str) -> Weights:
    published = requirements.model.checkpoint_precision
    if requirements.precision is published or {requirements.precision, published} <= set(_SIXTEEN_BITS):
        return Weights(place=place)
    if (
        requirements.precision is Precision.FP8
        and published in _SIXTEEN_BITS
        and Precision.FP8 in requirements.accelerator.flops
        and (engine, platform.value) in _QUANTISING
    ):
        said = f"{place} is in {published}; {engine} turns it into fp8 as it loads"
        return Weights(place=place, is_quantised_on_load=True, notes=(said,))
    raise InvalidSpec(
        f"weights: {place} is published in {published} and {engine} does not turn it into {requirements.precision} "
        f"on {requirements.accelerator.name}; name a checkpoint in {requirements.precision} with --weights, "
        f"or ask for {published}"
    )
