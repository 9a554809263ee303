"""How sure a ranking of hardware is: between which prices and times replicas are, and what a calibration leaves."""

from collections.abc import Mapping

from heterodyne.cli.plan.hardware_table import between, milliseconds, name_of, number, ranges_note
from heterodyne.cli.plan.pages.element import Markup
from heterodyne.cli.plan.pages.table import Column, table
from heterodyne.planning.hardware.ranges import ChoiceRanges
from heterodyne.planning.hardware.ranking import HardwareRequirements, RankedHardware


def ranges_table(
    shown: tuple[RankedHardware, ...], ranges: Mapping[str, ChoiceRanges], requirements: HardwareRequirements
) -> Markup:
    """Those that are in the ranking, in its order."""

    def of(choice: RankedHardware) -> ChoiceRanges:
        return ranges[name_of(choice)]

    columns = (
        Column[RankedHardware](heading="hardware", cell=name_of),
        Column[RankedHardware](
            heading="USD/1M", cell=lambda one: number(one.usd_per_million_tokens, 2), is_number=True
        ),
        Column[RankedHardware](heading="80% are", cell=lambda one: between(of(one).cost), is_number=True),
        Column[RankedHardware](heading="calibrated", cell=lambda one: between(of(one).cost_calibrated), is_number=True),
        Column[RankedHardware](heading="TTFT ms p50", cell=lambda one: milliseconds(of(one).ttft_s, 0), is_number=True),
        Column[RankedHardware](heading="ITL ms p50", cell=lambda one: milliseconds(of(one).itl_s, 1), is_number=True),
        Column[RankedHardware](heading="rests on", cell=lambda one: one.basis),
    )
    return table(ranges_note(requirements.quantile), columns, shown)
