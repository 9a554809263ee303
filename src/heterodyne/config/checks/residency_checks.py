"""Checks of where content rests: what a model may not leave must not be left by what its engines keep."""

from collections.abc import Iterator, Mapping

from heterodyne.config.checks.place_checks import allowed_pools
from heterodyne.config.fields import KV_STORES, MODELS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool
from heterodyne.config.settings import Settings
from heterodyne.domain.residency import may_rest


def kv_stays_where_its_model_does(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A model that is held to regions has no pool whose KV is kept in another."""
    for name, model in settings.models.items():
        for pool, one in allowed_pools(settings, name).items() if model.regions_only else ():
            store = settings.kv_stores.get(one.kv_store or "")
            if store is not None and not may_rest(frozenset(model.regions_only), store.regions):
                held = dotted(MODELS, name, "regions_only")
                yield SettingProblem(
                    path=dotted(KV_STORES, one.kv_store or "", "regions"),
                    message=f"{held} is {', '.join(model.regions_only)}, and pool {pool} of that model would leave its "
                    f"KV in {', '.join(store.regions)}",
                    rests_on=(held, *field_of_every_pool(settings, "kv_store", "region", "model")),
                )
