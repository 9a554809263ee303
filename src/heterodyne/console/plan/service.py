"""What answers the forms of the planner."""

from typing import Protocol

from heterodyne.console.plan.forms import HardwareForm, MemoryForm, MixForm
from heterodyne.console.plan.pages import HardwareAnswer, MemoryAnswer, MixAnswer, PlanOptions


class PlanService(Protocol):
    """Asks the planner; one per console."""

    async def options(self) -> PlanOptions: ...

    async def memory(self, form: MemoryForm) -> MemoryAnswer: ...

    async def hardware(self, form: HardwareForm) -> HardwareAnswer: ...

    async def mix(self, form: MixForm) -> MixAnswer: ...
