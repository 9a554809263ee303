"""Every builder there is."""

from heterodyne.domain.artifact import WeightFormat
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.building.builder import Builder
from heterodyne.registry.building.cast import CAST
from heterodyne.registry.building.gguf_builder import TO_GGUF, TO_SAFETENSORS

BUILDERS: tuple[Builder, ...] = (TO_SAFETENSORS, TO_GGUF, CAST)


def builder_for(takes: WeightFormat, makes: WeightFormat, precision: str) -> Builder:
    """The one that makes it; raises what can be made instead."""
    able = [one for one in BUILDERS if one.takes is takes and one.makes is makes]
    found = next((one for one in able if precision in one.precisions), None)
    if found is not None:
        return found
    if able:
        listed = ", ".join(precision for one in able for precision in one.precisions)
        raise UnknownName(f'no builder makes {makes} of the precision "{precision}"; {listed} are made')
    made = ", ".join(sorted({one.makes for one in BUILDERS if one.takes is takes}))
    raise UnknownName(f"no builder makes {makes} of {takes}; {made or 'nothing'} is made of it")
