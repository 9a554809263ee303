"""Checks of how requests are placed: a policy that exists, its inputs, and SLOs that can be met."""

from collections.abc import Iterator, Mapping

from heterodyne.config.checks.hardware_checks import known_hardware
from heterodyne.config.checks.place_checks import allowed_pools
from heterodyne.config.fields import MODELS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.physics.profile import Profile
from heterodyne.registry.profile_store import own_profiles
from heterodyne.routing.catalogue import check_policy
from heterodyne.routing.prediction.pool_prior import try_prior
from heterodyne.routing.prediction.prior import Prior

WEIGHED = ("slo", "cost", "load")
PREFERENCES = ("prefer_hardware", "prefer_labels")
PROMPT_TOKENS = 100  # of a short request
SLO_FIELDS = {
    "slo_ttft_ms": f"to the first token after a prompt of {PROMPT_TOKENS}",
    "slo_itl_ms": "between two tokens",
}
# Only what is far out of reach is refused: a prior may be wrong, and an engine that guesses ahead is quicker than it.
SURE = 2.0


def policies_are_known(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A policy is one of ours, or another system's."""
    for name, model in settings.models.items():
        try:
            check_policy(model.policy)
        except UnknownName as error:
            yield SettingProblem(path=dotted(MODELS, name, "policy"), message=error.message)


def a_policy_has_what_it_goes_by(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Preferences are for `affinity`, weights for `mix`: one without the other does nothing."""
    for name, model in settings.models.items():
        policy = dotted(MODELS, name, "policy")
        preferred = [field for field in PREFERENCES if getattr(model, field)]
        if model.policy == "affinity" and not preferred:
            yield SettingProblem(
                path=policy,
                message='"affinity" prefers nothing; give prefer_hardware or prefer_labels, or choose policy "slo"',
                rests_on=tuple(dotted(MODELS, name, field) for field in PREFERENCES),
            )
        if model.policy != "affinity" and not model.policy_override:
            for field in preferred:
                yield SettingProblem(
                    path=dotted(MODELS, name, field),
                    message=f'policy "{model.policy}" prefers nothing, and with policy_override false no request may '
                    'ask for "affinity"; choose that policy, or remove the line',
                    rests_on=(policy, dotted(MODELS, name, "policy_override")),
                )
        if model.mix and model.policy != "mix":
            yield SettingProblem(
                path=dotted(MODELS, name, "mix"),
                message=f'weights, but the policy is "{model.policy}"; choose policy "mix", or remove them',
                rests_on=(policy,),
            )


def weights_of_a_mix_can_be(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Weights are of objectives that can be weighed, and not all nothing."""
    for name, model in settings.models.items():
        path = dotted(MODELS, name, "mix")
        for objective in model.mix:
            if objective not in WEIGHED:
                message = f'"{objective}" cannot be weighed; {", ".join(WEIGHED)} can'
                yield SettingProblem(path=f"{path}.{objective}", message=or_nearest(message, objective, WEIGHED))
        if model.mix and not any(model.mix.values()):
            yield SettingProblem(path=path, message="every weight is 0; give one that is not")


def only_an_slo_can_be_late(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A fallback for lateness is never used where neither the model nor a request has an SLO."""
    for name, model in settings.models.items():
        is_promised = model.slo_ttft_ms is not None or model.slo_itl_ms is not None or model.policy_override
        if model.fallbacks_when_late and not is_promised:
            yield SettingProblem(
                path=dotted(MODELS, name, "fallbacks_when_late"),
                message="nothing is promised, and with policy_override false no request may ask for it; "
                "give slo_ttft_ms or slo_itl_ms, or remove the line",
                rests_on=tuple(dotted(MODELS, name, field) for field in (*SLO_FIELDS, "policy_override")),
            )


def slos_can_be_met(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An SLO is refused where even one short request, alone on the fastest replica, would miss it by far."""
    promising = {
        name: targets_ms
        for name, model in settings.models.items()
        if (targets_ms := {field: ms for field in SLO_FIELDS if (ms := getattr(model, field)) is not None})
    }
    if not promising:
        return
    try:
        measured = own_profiles(settings.physics.profiles, environment)
    except InvalidSpec:
        return  # a file of profiles that cannot be read: what was measured is not known
    for name, promised in promising.items():
        priors = _priors(settings, name, measured)
        if not priors or None in priors.values():
            continue  # a pool of unknown speed may be fast enough
        for field, promised_ms in promised.items():
            alone_ms = {pool: _alone_ms(field, prior) for pool, prior in priors.items() if prior is not None}
            best = min(alone_ms, key=alone_ms.__getitem__)
            if alone_ms[best] > SURE * promised_ms:
                yield SettingProblem(
                    path=dotted(MODELS, name, field),
                    message=f"{promised_ms:g} ms is out of reach: the fastest of its pools, {best}, takes about "
                    f"{alone_ms[best]:.3g} ms {SLO_FIELDS[field]}, with nothing else to do",
                    rests_on=(
                        "physics.hardware",
                        dotted(MODELS, name, "pools"),
                        *field_of_every_pool(settings, "model", "hardware", "tp", "engine", "shape", "precision"),
                    ),
                )


def _priors(settings: Settings, model: str, measured: tuple[Profile, ...]) -> dict[str, Prior | None]:
    """Of every pool that may serve a model; None where the speed of its hardware is not known."""
    chips, misdescribed = known_hardware(settings)
    return {
        name: None if pool.hardware in misdescribed else try_prior(pool, chips, measured)
        for name, pool in allowed_pools(settings, model).items()
    }


def _alone_ms(field: str, prior: Prior) -> float:
    """The time that the SLO limits, of one short request on an idle replica."""
    if field == "slo_itl_ms":
        return 1000 * (prior.step_s + prior.sequence_s + prior.context_token_s * PROMPT_TOKENS)
    return 1000 * (prior.fixed_s + (1.0 + prior.ahead_share) * prior.prompt_work_s(PROMPT_TOKENS))
