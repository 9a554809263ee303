"""A build without a registry around it."""

from pathlib import Path

from heterodyne.domain.artifact import ANY_HARDWARE
from heterodyne.registry.building.builder import Builder, BuildOrder

MODEL = "smollm2-135m"


def built_as(builder: Builder, precision: str, source: Path, target: Path) -> Path:
    """The folder that the builder has made."""
    settings = builder.recipe_settings({})
    order = BuildOrder(
        source=source, target=target, model=MODEL, precision=precision, hardware=ANY_HARDWARE, settings=settings
    )
    target.mkdir(parents=True, exist_ok=True)
    builder.run(order, lambda done, of: None)
    return target
