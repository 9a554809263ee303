"""What the admin API is made of, beside the fleet: values that assembly builds once and `admin_app` takes apart."""

from msgspec import Struct

from heterodyne.console.abuse.service import AbuseService
from heterodyne.console.batches.service import BatchService
from heterodyne.console.capacity.service import CapacityService
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.guard import Guard
from heterodyne.console.kv.service import KvService
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.plan.service import PlanService
from heterodyne.console.playground.service import Playground
from heterodyne.console.policies.service import DropService, PolicyService
from heterodyne.console.registry.service import RegistryService
from heterodyne.console.rehearsal.service import RehearsalService
from heterodyne.console.rollouts.service import RolloutService
from heterodyne.console.scaling.service import ScalingService
from heterodyne.console.sign_in.flow import SignInFlow
from heterodyne.console.tenants.service import TenantService
from heterodyne.console.tenants_now.service import TenantsNowService
from heterodyne.ports.books import BookStore


class StoreServices(Struct, frozen=True, kw_only=True):
    """What needs the supervisor's stores: tenants, the books, and the recorder of changes."""

    tenants: TenantService
    recorder: ChangeRecorder
    books: BookStore
    batches: BatchService | None = None  # None: there are none to see
    rollouts: RolloutService | None = None  # None: nothing carries any out
    registry: RegistryService | None = None  # None: nobody is asked
    abuse: AbuseService | None = None  # None: nobody looks
    policies: PolicyService | None = None  # of guards, caches and cascades; None: nobody follows them
    drops: DropService | None = None  # of kept answers; None: nobody drops any
    scaling: ScalingService | None = None  # None: nothing grows and shrinks


class ConsoleServices(Struct, frozen=True, kw_only=True):
    """What is worked out for the views about tenants now, capacity, plans, rehearsals and KV."""

    tenants: TenantsNowService
    capacity: CapacityService
    plans: PlanService
    rehearsals: RehearsalService
    kv: KvService


class Instruments(Struct, frozen=True, kw_only=True):
    """What a console has: the guard of its port, the live feed, the playground, and the views that are worked out."""

    guard: Guard
    sign_in: SignInFlow | None = None  # None: people sign in with keys alone
    feed: LiveFeed
    playground: Playground
    services: ConsoleServices | None  # None: no view is worked out
    gateway_url: str  # as a client would call it
