"""The compressed-tensors layout, which vLLM loads: projections of eight bits, and what `config.json` says of them.

Activations are cut to eight bits too, token by token while the engine runs: the one way in which vLLM computes whole
numbers of eight bits on CPUs, and one that its GPUs have too.
"""

from collections.abc import Iterable

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.tensors.checkpoint import CONFIG, Checkpoint
from heterodyne.registry.tensors.eight_bits import BY_DTYPE, EIGHT_BITS, SCALE
from heterodyne.registry.tensors.number_formats import PRECISIONS

METHOD = "compressed-tensors"
QUANTIZATION = "quantization_config"  # the member of `config.json`
FORMATS = {"int8": "int-quantized", "fp8": "float-quantized"}
TYPES = {"int8": "int", "fp8": "float"}


def quantization_config(precision: str) -> dict[str, object]:
    """What an engine has to know: every linear layer but the head has one scale for each row."""
    numbers: dict[str, object] = {"num_bits": 8, "type": TYPES[precision], "symmetric": True}
    group = {
        "targets": ["Linear"],
        "weights": {**numbers, "strategy": "channel", "dynamic": False},
        "input_activations": {**numbers, "strategy": "token", "dynamic": True},
        "output_activations": None,
    }
    return {
        "quant_method": METHOD,
        "format": FORMATS[precision],
        "quantization_status": "compressed",
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }


def precision_of_eight_bits(checkpoint: Checkpoint) -> str | None:
    """The precision of a checkpoint in this layout; None: it has no numbers of eight bits, or of both kinds."""
    kinds = {checkpoint.place(name).dtype for name in checkpoint.names} & BY_DTYPE.keys()
    found = [precision for precision, kind in EIGHT_BITS.items() if kind.dtype in kinds]
    return found[0] if len(found) == 1 else None


def check_scales(where: str, checkpoint: Checkpoint, projections: Iterable[str]) -> set[str]:
    """The names of the scales, of which a plain checkpoint has none; raises what is not of the layout."""
    eight = [name for name in checkpoint.names if checkpoint.place(name).dtype in BY_DTYPE]
    if not eight:
        return set()
    _check_config(where, checkpoint)
    allowed = set(projections)
    for name in eight:
        place = checkpoint.place(name)
        if name not in allowed:
            raise WeightsCorrupt(
                f'{where}: the tensor "{name}" is stored as {place.dtype}, which only projections of layers are'
            )
        if name + SCALE not in checkpoint:
            raise WeightsCorrupt(f'{where}: has no tensor "{name}{SCALE}", by which "{name}" is multiplied')
        scale, expected = checkpoint.place(name + SCALE), (place.shape[0], 1)
        if scale.shape != expected or scale.dtype not in PRECISIONS:
            raise WeightsCorrupt(
                f'{where}: the tensor "{name}{SCALE}" is {scale.dtype} {list(scale.shape)}; a scale for each row is '
                f"expected, {list(expected)} of {', '.join(PRECISIONS)}"
            )
    return {name + SCALE for name in eight}


def _check_config(where: str, checkpoint: Checkpoint) -> None:
    said, precision = checkpoint.config.get(QUANTIZATION), precision_of_eight_bits(checkpoint)
    if precision is None:
        raise WeightsUnavailable(f"{where}: has whole numbers and floats of eight bits; one of them is read")
    found = (said.get("quant_method"), said.get("format")) if isinstance(said, dict) else (None, None)
    if found != (METHOD, FORMATS[precision]):
        raise WeightsUnavailable(
            f"{where}/{CONFIG}: {QUANTIZATION} of {EIGHT_BITS[precision].dtype} weights says method {found[0]}, format "
            f"{found[1]}; {METHOD}, {FORMATS[precision]} is read"
        )
