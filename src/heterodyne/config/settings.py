"""The one frozen value every room's settings are gathered into."""

from typing import Annotated

from msgspec import Meta, Struct, field

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.alerts.settings import AlertSettings
from heterodyne.audit.settings import AuditSettings
from heterodyne.batches.settings import BatchSettings
from heterodyne.books.settings import BookSettings
from heterodyne.caching.settings import CacheSettings
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.sign_in.settings import SignInSettings
from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.scaling_settings import ScalingSettings
from heterodyne.fleet.settings import FleetSettings, PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.identity.settings import IssuerSettings
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.settings import RegistrySettings
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.routing.settings import RoutingSettings
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.settings import GuardSettings
from heterodyne.stores.settings import StoreSettings
from heterodyne.telemetry.settings import TelemetrySettings


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything an operator can decide; sections are rooms, pools and models have names of their own."""

    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    sign_in: SignInSettings = field(default_factory=SignInSettings)
    endpoint_picker: EndpointPickerSettings = field(default_factory=EndpointPickerSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    stores: StoreSettings = field(default_factory=StoreSettings)
    books: BookSettings = field(default_factory=BookSettings)
    batches: BatchSettings = field(default_factory=BatchSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    physics: PhysicsSettings = field(default_factory=PhysicsSettings)
    fleet: FleetSettings = field(default_factory=FleetSettings)
    autoscaling: ScalingSettings = field(default_factory=ScalingSettings)
    pools: Annotated[
        dict[str, PoolSettings], Meta(description="Pools by name; the default pools when none is declared.")
    ] = field(default_factory=lambda: dict(DEFAULT_POOLS))
    models: Annotated[
        dict[str, ModelSettings], Meta(description="What is said about models, by the name clients ask for.")
    ] = field(default_factory=dict)
    issuers: Annotated[
        dict[str, IssuerSettings], Meta(description="Issuers whose tokens callers may bring in place of keys, by name.")
    ] = field(default_factory=dict)
    guards: Annotated[dict[str, GuardSettings], Meta(description="Policies of what texts may not carry, by name.")] = (
        field(default_factory=dict)
    )
    abuse: Annotated[dict[str, AbuseSettings], Meta(description="Policies against abuse of keys, by name.")] = field(
        default_factory=dict
    )
    caches: Annotated[
        dict[str, CacheSettings], Meta(description="Policies of which answers are given again, by name.")
    ] = field(default_factory=dict)
    cascades: Annotated[
        dict[str, CascadeSettings],
        Meta(description="Names of a big model whose chats a cheap model tries first, where its answer may do."),
    ] = field(default_factory=dict)
    kv_stores: Annotated[dict[str, KvStoreSettings], Meta(description="Stores of KV that replicas share, by name.")] = (
        field(default_factory=dict)
    )


SECTIONS: dict[str, type[Struct]] = {
    "gateway": GatewaySettings,
    "console": ConsoleSettings,
    "sign_in": SignInSettings,
    "endpoint_picker": EndpointPickerSettings,
    "admission": AdmissionSettings,
    "routing": RoutingSettings,
    "stores": StoreSettings,
    "books": BookSettings,
    "batches": BatchSettings,
    "audit": AuditSettings,
    "telemetry": TelemetrySettings,
    "alerts": AlertSettings,
    "registry": RegistrySettings,
    "physics": PhysicsSettings,
    "fleet": FleetSettings,
    "autoscaling": ScalingSettings,
}
NAMED: dict[str, type[Struct]] = {  # tables of sections that the operator names: [pools.NAME], [models.NAME] and so on
    "pools": PoolSettings,
    "models": ModelSettings,
    "issuers": IssuerSettings,
    "guards": GuardSettings,
    "abuse": AbuseSettings,
    "caches": CacheSettings,
    "cascades": CascadeSettings,
    "kv_stores": KvStoreSettings,
}
