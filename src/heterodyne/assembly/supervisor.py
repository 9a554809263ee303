"""Builds what the supervisor runs, over the stores it has open and the owner of its fleet."""

import socket
from functools import partial
from pathlib import Path

from msgspec import Struct
from starlette.applications import Starlette

from heterodyne.assembly.abuse import build_abuse
from heterodyne.assembly.batches import batch_clerk
from heterodyne.assembly.console import AdminAccess, build_instruments
from heterodyne.assembly.fleet import answer_keda
from heterodyne.assembly.gateways import build_gateways
from heterodyne.assembly.policies import PolicyParts, build_policies
from heterodyne.assembly.registry import build_registry
from heterodyne.assembly.rollouts import build_rollouts
from heterodyne.assembly.scaling import build_scaling
from heterodyne.config.settings import Settings
from heterodyne.console.abuse.service import AbuseService
from heterodyne.console.app import admin_app
from heterodyne.console.batches.service import BatchService
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.registry.service import RegistryService
from heterodyne.console.rollouts.service import RolloutService
from heterodyne.console.scaling.service import ScalingService
from heterodyne.console.server import AdminServer
from heterodyne.console.services import Instruments, StoreServices
from heterodyne.console.tenants.service import TenantService
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.control.drift_watch import DriftWatch
from heterodyne.domain.local_address import local_url
from heterodyne.supervisor.abuse.abuse_watch import AbuseWatch
from heterodyne.supervisor.alerts.signals import SignalMaker
from heterodyne.supervisor.alerts.watch import AlertWatch
from heterodyne.supervisor.certificates import CertificateWatch
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.fleet.manifest_watch import ManifestWatch
from heterodyne.supervisor.fleet.signal_reload import SignalReload
from heterodyne.supervisor.meters.stores import FleetSamples, write_meters
from heterodyne.supervisor.meters.supervisor import SupervisorMeters
from heterodyne.supervisor.run import AdminPort, Loops, supervise
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.document_retention import forget_documents
from heterodyne.supervisor.stores.file_retention import forget_files
from heterodyne.supervisor.stores.shared_audit_log import take_audit_log
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores
from heterodyne.supervisor.stores.tenant_publisher import PublishTenants, TenantPublisher

LIMITS_MAX = 500  # the most used of all limits: those that are not in dollars are often full


class StoreParts(Struct, frozen=True, kw_only=True, eq=False):
    """What works on the stores beside the fleet; one per supervisor."""

    publisher: TenantPublisher
    services: StoreServices
    reload: SignalReload
    loops: Loops


def build_store_parts(
    stores: SupervisorStores,
    fleet: FleetService,
    publish: PublishTenants,
    run_dir: Path,
    samples: FleetSamples,
    *,
    rollouts: RolloutService | None = None,
    registry: RegistryService | None = None,
    abuse: AbuseService | None = None,
    policies: PolicyParts | None = None,
    scaling: ScalingService | None = None,
) -> StoreParts:
    """`publish` takes tenants to the workers, `samples` is what is measured of the fleet."""
    recorder = ChangeRecorder(stores.audit)
    publisher = TenantPublisher(stores.tenants, stores.snapshot, publish)
    reload = SignalReload(FleetChanges(fleet, recorder))
    loops: Loops = {
        "tenants": publisher.follow,
        "audit": partial(take_audit_log, stores.audit),
        "documents": partial(forget_documents, stores.documents),
        "files": partial(forget_files, stores.documents, stores.contents, stores.uploads),
        "reloads": reload.run,
        "meters": partial(write_meters, run_dir, stores.collecting, stores.auditing, samples),
    }
    if stores.usage is not None:
        loops = {**loops, "books": partial(stores.usage.run, fleet.page)}
    services = StoreServices(
        tenants=TenantService(stores.tenants, publisher.on_change, recorder),
        recorder=recorder,
        books=stores.books,
        batches=BatchService(stores.documents, recorder),
        rollouts=rollouts,
        registry=registry,
        abuse=abuse,
        policies=None if policies is None else policies.reader,
        drops=None if policies is None else policies.dropper,
        scaling=scaling,
    )
    return StoreParts(publisher=publisher, services=services, reload=reload, loops=loops)


async def run_supervisor(
    settings: Settings, owner: FleetOwner, stores: SupervisorStores, run_dir: Path, access: AdminAccess | None
) -> None:
    """Until a signal ends it; without it there is no admin port."""
    tenants = TenantUsageReader(stores.tenants, stores.books, stores.limits, owner.workers.views)
    drifts = DriftWatch(owner.replicas, owner.ready, lambda: owner.settings.alerts.drift_interval_s)
    certificates = CertificateWatch(lambda: owner.settings)
    meters = SupervisorMeters(owner, stores.books, tenants, drifts, stores.documents)
    abuse = build_abuse(owner, stores, run_dir)
    gateways = build_gateways(owner, stores)
    scaling = build_scaling(owner, stores, gateways)
    watches = AlertWatches(drifts=drifts, abuse=abuse, certificates=certificates, autoscaler=scaling.autoscaler)
    alerts = _try_alerts(owner, stores, tenants, run_dir, watches)
    rollouts, registry = build_rollouts(owner, stores.rollouts), build_registry(owner, stores.models)
    policies = build_policies(owner, stores.policies, run_dir)
    parts = build_store_parts(
        stores,
        owner,
        owner.take_tenants,
        run_dir,
        meters.samples,
        rollouts=rollouts,
        registry=registry,
        policies=policies,
        abuse=abuse,
        scaling=scaling.autoscaler,
    )
    loops = {
        **parts.loops,
        "batches": batch_clerk(owner, stores, run_dir).run,
        "fleet meters": meters.run,
        "rollouts": rollouts.run,
        "policies": policies.watch.run,
        "cache drops": policies.dropper.run,
        "drift": drifts.run,
        "abuse": abuse.run,
        "certificates": certificates.run,
        **gateways.loops,
        **scaling.loops,
        "discovery": owner.discovery.run,
        "keda": lambda: answer_keda(owner),
        "manifests": ManifestWatch(lambda: owner.settings.endpoint_picker, parts.reload.request).run,
    }
    if alerts is not None:
        loops["alerts"] = alerts.run
    admin = None
    if access is not None:
        instruments = build_instruments(
            settings, owner, stores, parts.publisher, tenants, access=access, alerts=alerts, gateways=gateways
        )
        loops["live"] = instruments.feed.run
        app = admin_app(settings.console, owner, parts.services, instruments)
        admin = _admin_port(settings, access, app, instruments)
    try:
        await supervise(settings, owner, loops, reload=parts.reload.request, admin=admin)
    finally:
        await abuse.close()
        if access is not None and access.sign_in is not None:
            await access.sign_in.close()


def _admin_port(settings: Settings, access: AdminAccess, app: Starlette, instruments: Instruments) -> AdminPort:
    files = settings.console.tls_files
    return AdminPort(
        server=AdminServer(app, access.listener, access.guard, tls_files=files),
        feed=instruments.feed,
        url=_url(access.listener, is_tls=files is not None),
    )


class AlertWatches(Struct, frozen=True, kw_only=True, eq=False):
    """What alerts are judged by, beside the fleet and the stores."""

    drifts: DriftWatch
    abuse: AbuseWatch
    certificates: CertificateWatch
    autoscaler: Autoscaler


def _try_alerts(
    owner: FleetOwner,
    stores: SupervisorStores,
    tenants: TenantUsageReader,
    run_dir: Path,
    watches: AlertWatches,
) -> AlertWatch | None:
    """Thresholds follow reloads; None where alerts are off."""
    if not owner.settings.alerts.is_on:
        return None

    async def limits() -> tuple[LimitUse, ...]:
        return await tenants.limit_use(LIMITS_MAX)

    maker = SignalMaker(
        history=stores.books,
        run_dir=run_dir,
        page=owner.page,
        books=stores.collecting,
        audit=stores.auditing,
        limits=limits,
        drifts=watches.drifts.snapshot,
        abuse=watches.abuse.signals,
        certificates=watches.certificates.snapshot,
        discoveries=owner.discovery.snapshot,
        scaling=lambda: watches.autoscaler.page(None, 0),
    )
    return AlertWatch(lambda: owner.settings.alerts, maker, run_dir)


def _url(listener: socket.socket, *, is_tls: bool) -> str:
    host, port = listener.getsockname()[:2]
    return local_url("https" if is_tls else "http", host, port)
