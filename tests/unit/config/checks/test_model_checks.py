"""What models must say, one check at a time."""

from heterodyne.config.checks import model_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings

POOLS = {
    "big-eu": PoolSettings(model="llama-3.1-70b", region="eu-west"),
    "big-us": PoolSettings(model="llama-3.1-70b", region="us-east"),
    "small": PoolSettings(model="qwen3-8b", region="us-east"),
    "vectors": PoolSettings(model="minilm", purpose="embed"),
    "triton": PoolSettings(model="tensors", engine="open_inference"),
}
LLAMA = "llama-3.1-70b"


def found(check: Check, **models: ModelSettings) -> list[str]:
    named = {LLAMA if name == "llama" else name.replace("_", "-"): model for name, model in models.items()}
    return [str(problem) for problem in check(Settings(pools=POOLS, models=named), {})]


def test_a_section_of_a_model_that_no_pool_serves_names_the_nearest() -> None:
    assert found(model_checks.a_model_is_served, llama_3_1_70b=ModelSettings(), zzz=ModelSettings()) == [
        'models.llama-3-1-70b: no pool serves this model; did you mean "llama-3.1-70b"?',
        "models.zzz: no pool serves this model",
    ]
    assert found(model_checks.a_model_is_served, llama=ModelSettings()) == []


def test_the_pools_of_a_model_exist_and_serve_it() -> None:
    assert found(model_checks.pools_of_a_model_serve_it, llama=ModelSettings(pools=("bigeu", "small", "big-us"))) == [
        'models."llama-3.1-70b".pools[0]: no pool "bigeu"; did you mean "big-eu"?',
        'models."llama-3.1-70b".pools[1]: pools.small serves "qwen3-8b"',
    ]


def test_a_model_may_not_list_no_pools_at_all() -> None:
    (problem,) = found(model_checks.pools_of_a_model_serve_it, llama=ModelSettings(pools=()))
    assert problem.startswith('models."llama-3.1-70b".pools: no pool is left to serve it')


def test_an_alias_is_nobody_elses_name() -> None:
    taken = ModelSettings(aliases=("fast", "qwen3-8b", LLAMA, "fast", ""))
    assert found(model_checks.aliases_are_free, llama=taken, qwen3_8b=ModelSettings(aliases=("fast", "quick"))) == [
        'models."llama-3.1-70b".aliases[1]: "qwen3-8b" is the name of another model',
        'models."llama-3.1-70b".aliases[2]: "llama-3.1-70b" is this model\'s own name',
        'models."llama-3.1-70b".aliases[3]: "fast" is already models."llama-3.1-70b".aliases[0]',
        'models."llama-3.1-70b".aliases[4]: a name is not empty',
        'models.qwen3-8b.aliases[0]: "fast" is already models."llama-3.1-70b".aliases[0]',
    ]


def test_a_fallback_is_another_model_that_is_served_and_answers_the_same_kind_of_request() -> None:
    llama = ModelSettings(fallbacks=("qwen3-8b", LLAMA, "qwen3-8", "minilm", "quick", "qwen3-8b"))
    assert found(model_checks.fallbacks_can_answer, llama=llama, qwen3_8b=ModelSettings(aliases=("quick",))) == [
        'models."llama-3.1-70b".fallbacks[1]: a model cannot answer in its own place',
        'models."llama-3.1-70b".fallbacks[2]: no pool serves "qwen3-8"; did you mean "qwen3-8b"?',
        'models."llama-3.1-70b".fallbacks[3]: "minilm" has purpose "embed", this model "generate"',
        'models."llama-3.1-70b".fallbacks[4]: "quick" is an alias; did you mean "qwen3-8b"?',
        'models."llama-3.1-70b".fallbacks[5]: "qwen3-8b" is listed twice',
    ]


def test_who_answers_when_a_model_is_late_is_held_to_the_same() -> None:
    llama = ModelSettings(fallbacks_when_late=(LLAMA, "qwen3", "minilm", "tensors", "qwen3-8b"))
    assert found(model_checks.fallbacks_can_answer, llama=llama) == [
        'models."llama-3.1-70b".fallbacks_when_late[0]: a model cannot answer in its own place',
        'models."llama-3.1-70b".fallbacks_when_late[1]: no pool serves "qwen3"; did you mean "qwen3-8b"?',
        'models."llama-3.1-70b".fallbacks_when_late[2]: "minilm" has purpose "embed", this model "generate"',
        'models."llama-3.1-70b".fallbacks_when_late[3]: "tensors" has purpose "infer", this model "generate"',
    ]


def test_two_models_may_answer_for_each_other_when_late_for_nothing_is_handed_on_twice() -> None:
    models = {"llama": ModelSettings(fallbacks_when_late=("qwen3-8b",)), "qwen3_8b": ModelSettings(fallbacks=(LLAMA,))}
    assert found(model_checks.fallbacks_come_to_an_end, **models) == []
    assert found(model_checks.fallbacks_can_answer, **models) == []


def test_a_circle_of_fallbacks_is_named_once() -> None:
    circle = {
        "a": ModelSettings(fallbacks=("b",)),
        "b": ModelSettings(fallbacks=("d", "c")),
        "c": ModelSettings(fallbacks=("a",)),
        "d": ModelSettings(),
    }
    assert found(model_checks.fallbacks_come_to_an_end, **circle) == [
        "models.a.fallbacks: goes round in a circle: a -> b -> c -> a"
    ]


def test_a_model_that_leads_into_a_circle_is_not_blamed_for_it() -> None:
    models = {
        "before": ModelSettings(fallbacks=("a",)),
        "a": ModelSettings(fallbacks=("b",)),
        "b": ModelSettings(fallbacks=("a",)),
    }
    (problem,) = found(model_checks.fallbacks_come_to_an_end, **models)
    assert problem == "models.a.fallbacks: goes round in a circle: a -> b -> a"


def test_many_ways_that_meet_are_no_circle_and_take_no_time() -> None:
    names = [f"m{number:02}" for number in range(60)]
    models = {name: ModelSettings(fallbacks=tuple(names[place + 1 :])) for place, name in enumerate(names)}
    assert found(model_checks.fallbacks_come_to_an_end, **models) == []
