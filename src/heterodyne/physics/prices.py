"""What each term of a step costs on real silicon under a real engine."""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.physics.terms import Terms


class Prices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Multiples of the ideal time (1.0 is the datasheet's peak), or seconds where the name says so."""

    weights: float  # 1 / share of memory bandwidth reached while reading weights
    experts: float
    kv: float
    compute: float
    # Small products of few rows each: kernels of mixtures reach a quarter to a fifth of what large ones do.
    expert_compute: float = 4.5
    layer_s: float  # launch and bookkeeping of one layer
    expert_layer_s: float  # routing and sorting, on top, where a layer is a mixture
    hops: float
    reduce: float
    exchange: float
    sequence_s: float  # scheduling and sampling of one running sequence
    step_s: float
    prompt_compute: float
    prompt_reduce: float
    prompt_layer_s: float  # of one chunk in one layer

    def seconds(self, terms: Terms) -> float:
        """What these terms take."""
        # Taken apart at once: this runs for every step of every plan, and names of a tuple are looked up one by one.
        (
            weights,
            experts,
            kv,
            compute,
            expert_compute,
            layers,
            expert_layers,
            hops,
            reduce,
            exchange,
            sequences,
            steps,
            prompt_compute,
            prompt_reduce,
            prompt_layers,
        ) = terms
        return (
            self.weights * weights
            + self.experts * experts
            + self.kv * kv
            + self.compute * compute
            + self.expert_compute * expert_compute
            + self.layer_s * layers
            + self.expert_layer_s * expert_layers
            + self.hops * hops
            + self.reduce * reduce
            + self.exchange * exchange
            + self.sequence_s * sequences
            + self.step_s * steps
            + self.prompt_compute * prompt_compute
            + self.prompt_reduce * prompt_reduce
            + self.prompt_layer_s * prompt_layers
        )

    def values(self) -> tuple[float, ...]:
        """In the order of `Terms`."""
        return tuple(getattr(self, name) for name in self.__struct_fields__)

    @classmethod
    def of(cls, values: Iterable[float]) -> "Prices":
        """From numbers in the order of `Terms`."""
        return cls(**dict(zip(cls.__struct_fields__, map(float, values), strict=True)))


# With nothing measured: 0.8 of memory bandwidth and of measured matrix rates (aiconfigurator), 32 µs a layer,
# 126 µs a step and 4 µs a sequence (BLIS), collectives at a fifth of the link as small messages reach it.
DATASHEET = Prices(
    weights=1.25,
    experts=1.25,
    kv=1.25,
    compute=0.5,
    expert_compute=4.5,
    layer_s=32e-6,
    expert_layer_s=32e-6,
    hops=0.25,
    reduce=5.0,
    exchange=5.0,
    sequence_s=4e-6,
    step_s=126e-6,
    prompt_compute=1.25,
    prompt_reduce=1.25,
    prompt_layer_s=32e-6,
)
