"""Every problem is found at once, with its place and what to try."""

import tomllib
from collections.abc import Mapping

import pytest

from heterodyne.config.layers import winners
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settle import settle

URL_POOL = '[pools.p]\nmodel = "m"\nurls = ["http://h:1"]\n'


def problems(
    text: str = "", environment: Mapping[str, str] | None = None, overrides: Mapping[str, str] | None = None
) -> list[str]:
    environment = environment or {}
    try:
        settle(winners(tomllib.loads(text), environment, overrides or {}), environment)
    except SettingsProblems as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[gateway]\nprt = 1", 'gateway.prt: no such setting; did you mean "port"?'),
        ("[gateway]\nzzzzzz = 1", "gateway.zzzzzz: no such setting"),
        ("[gatewy]\nport = 1", 'gatewy: no such section; did you mean "gateway"?'),
        ("port = 1", 'port: no such section; did you mean "gateway.port"?'),
        ("gateway = 1", "gateway: expected a section with settings in it"),
        ("pools = 1", "pools: expected a section with settings in it"),
        ("[pools]\nchat = 1", "pools.chat: expected a section [pools.chat] with settings in it"),
        ("models = 1", "models: expected a section with settings in it"),
        ('[models]\n"a.b" = 1', 'models."a.b": expected a section [models."a.b"] with settings in it'),
        ('[modles."a.b"]', 'modles: no such section; did you mean "models"?'),
        (URL_POOL + "[models.m]\nalias = []", 'models.m.alias: no such setting; did you mean "aliases"?'),
        (URL_POOL + '[models."m.n"]', 'models."m.n": no pool serves this model'),
        (URL_POOL + "slotz = 1", 'pools.p.slotz: no such setting; did you mean "slots"?'),
    ],
)
def test_an_unknown_key_is_refused_with_its_path_and_the_nearest_name(text: str, expected: str) -> None:
    assert problems(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[gateway]\nport = "x"', 'gateway.port: expected an integer from 0 to 65535, got "x"'),
        ("[gateway]\nport = 65536", "gateway.port: expected an integer from 0 to 65535, got 65536"),
        ("[gateway]\nport = true", "gateway.port: expected an integer from 0 to 65535, got true"),
        ("[gateway]\nport = 1.5", "gateway.port: expected an integer from 0 to 65535, got 1.5"),
        ("[gateway]\nport = [1]", "gateway.port: expected an integer from 0 to 65535, got a list"),
        ("[gateway.port]\nx = 1", "gateway.port: expected an integer from 0 to 65535, got a table"),
        ("[gateway]\nhost = 1", "gateway.host: expected text, got 1"),
        ("[gateway]\nstall_timeout_s = 0", "gateway.stall_timeout_s: expected a number above 0, at most 86400, got 0"),
        ("[registry]\ndownload_timeout_s = inf", "registry.download_timeout_s: expected a number above 0, got inf"),
        ("[registry]\ndownload_timeout_s = nan", "registry.download_timeout_s: expected a number above 0, got nan"),
        (URL_POOL + "context_tokens = 3", "pools.p.context_tokens: expected an integer from 16 up, or absent, got 3"),
        (
            URL_POOL + 'labels = { team = 3, x = "y" }',
            "pools.p.labels.team: expected text, got 3",
        ),
        (URL_POOL + 'labels = "x"', "pools.p.labels: expected a table of text, got other text"),
        (URL_POOL + "labels = [1]", "pools.p.labels: expected a table of text, got a list"),
        (
            URL_POOL + '[models.m]\naliases = ["a", 2]',
            "models.m.aliases[1]: expected text, got 2",
        ),
        ("[routing]\nhedge_quantile = 1", "routing.hedge_quantile: expected a number above 0, below 1, got 1"),
        ("[physics]\nhardware = { l4 = 1 }", "physics.hardware.l4: expected a table, got 1"),
        (
            URL_POOL + 'purpose = "sing"',
            'pools.p.purpose: expected one of "generate", "embed", got "sing"',
        ),
        (
            URL_POOL.replace('["http://h:1"]', '"http://h:1"'),
            "pools.p.urls: expected a list of text, got other text",
        ),
    ],
)
def test_a_wrong_type_or_range_is_refused_with_what_was_expected(text: str, expected: str) -> None:
    assert problems(text) == [expected]


def test_a_key_in_place_of_its_digest_is_never_repeated() -> None:
    for text in ('[admission]\napi_keys_sha256 = ["sk-secret"]', '[admission]\napi_keys_sha256 = "sk-secret"'):
        (problem,) = problems(text)
        assert problem.startswith("admission.api_keys_sha256")
        assert "secret" not in problem


def test_text_from_variables_and_flags_is_refused_with_where_it_came_from() -> None:
    assert problems("", {"HETERODYNE_GATEWAY__PORT": "x"}) == [
        'gateway.port: expected an integer from 0 to 65535, got "x" (from HETERODYNE_GATEWAY__PORT)'
    ]
    assert problems("", {}, {"gateway.port": "x"}) == [
        'gateway.port: expected an integer from 0 to 65535, got "x" (from a flag)'
    ]
    (problem,) = problems("", {"HETERODYNE_ADMISSION__API_KEYS_SHA256": "[1"})
    assert problem.startswith("admission.api_keys_sha256: expected a list of 64 lower-case hex digits, got other text")


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("HETERODYNE_GATEWAY_PORT", "HETERODYNE_GATEWAY__PORT"),
        ("HETERODYNE_GATEWAY__PROT", "HETERODYNE_GATEWAY__PORT"),
        ("HETERODYNE_POOLS__CHAT__SLOTZ", "HETERODYNE_POOLS__CHAT__SLOTS"),
    ],
)
def test_a_stray_variable_is_refused_with_the_nearest_one(variable: str, nearest: str) -> None:
    assert problems("", {variable: "1"}) == [f'{variable}: no such setting; did you mean "{nearest}"?']


def test_variables_that_are_not_settings_are_left_alone() -> None:
    assert problems("", {"HETERODYNE_CONFIG": "x", "HETERODYNE_API_KEY": "k", "PATH": "/bin"}) == []


def test_variables_with_secrets_are_no_settings_whatever_they_are_called() -> None:
    named = '[stores]\ncache_key_env = "HETERODYNE_SEAL"\n'
    assert problems("", {"HETERODYNE_CACHE_KEY": "k" * 16}) == []
    assert problems(named, {"HETERODYNE_SEAL": "k" * 16}) == []
    assert problems("", {"HETERODYNE_SEAL": "k" * 16}) != []


def test_the_variable_a_pool_reads_its_key_from_may_have_our_prefix() -> None:
    text = URL_POOL + 'api_key_env = "HETERODYNE_UPSTREAM"'
    assert problems(text, {"HETERODYNE_UPSTREAM": "k"}) == []


def test_a_misspelt_pool_in_a_variable_is_recognised() -> None:
    found = problems('[pools.chat]\nmodel = "m"\nurls = ["http://h:1"]', {"HETERODYNE_POOLS__CHTA__SLOTS": "1"})
    assert found[0] == 'pools.chta.model: required; the public name clients ask for. Did you mean pool "chat"?'


def test_the_error_carries_each_problem_as_a_value() -> None:
    with pytest.raises(SettingsProblems) as caught:
        settle(winners({"gateway": {"prt": 1}, "nope": 1}, {}, {}), {})
    assert [problem.path for problem in caught.value.problems] == ["gateway.prt", "nope"]
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]


def test_every_problem_is_listed_at_once() -> None:
    text = (
        "port = 1\n"
        '[gateway]\nprt = 1\nworkers = 0\nhost = "0.0.0.0"\ntls_key = "/nope"\n'
        '[pools.a]\nslotz = 1\n[pools.b]\nmodel = "m"\nurls = ["ftp://h"]\n'
    )
    found = [problem.split(": ")[0] for problem in problems(text, {"HETERODYNE_NOPE": "1"})]
    assert found == [
        "port",
        "gateway.prt",
        "gateway.workers",
        "pools.a.slotz",
        "HETERODYNE_NOPE",
        "pools.a.model",
        "gateway.host",
        "gateway.tls_certificate",
        "gateway.tls_key",
        "pools.a",
        "pools.b.urls[0]",
    ]


def test_a_check_that_rests_on_a_refused_value_stays_silent() -> None:
    assert len(problems('[gateway]\nhost = "0.0.0.0"\n[admission]\napi_keys_sha256 = ["x"]')) == 1
    assert len(problems('[pools.p]\nmodel = "m"\nurls = 1')) == 1
    assert len(problems("[gateway]\ndeadline_max_s = -1\ndeadline_default_s = 4000")) == 1
    assert len(problems(URL_POOL + "region = 1\n[models.m]\nregions_only = ['eu']")) == 1
    assert len(problems("[pools.p]\nurls = ['http://h:1']\n[models.m]\n")) == 1


def test_a_flag_with_an_unquoted_dotted_name_is_told_how_to_quote_it() -> None:
    assert problems("", {}, {"models.llama-3.1-70b.aliases": "x"}) == [
        "models.llama-3.1-70b.aliases: a name with dots stands in quotes: --set 'models.\"llama-3.1-70b\".aliases=…'"
    ]


def test_a_flag_into_a_table_is_told_that_the_table_is_set_whole() -> None:
    assert problems(URL_POOL, {}, {"pools.p.labels.team": "x"}) == [
        "pools.p.labels.team: labels is set as a whole: --set 'pools.p.labels={\"team\": …}'"
    ]


def test_a_variable_of_a_model_that_is_not_declared_names_the_nearest() -> None:
    (problem,) = problems("", {"HETERODYNE_MODELS__SMOLLM2_135M__ALIASES": "x"})
    assert problem == 'models.smollm2_135m: no pool serves this model; did you mean "smollm2-135m"?'


def test_problems_of_pools_and_models_are_listed_together() -> None:
    text = (
        '[pools.a]\nmodel = "m"\nurls = ["http://h:1"]\nhardware = "h1000"\nreplicas = 2\n'
        '[models.m]\npools = ["b"]\naliases = ["m"]\nfallbacks = ["n"]\nregions_only = ["eu"]\n'
    )
    assert [problem.split(": ")[0] for problem in problems(text)] == [
        "pools.a.replicas",
        "pools.a.hardware",
        "models.m.pools[0]",
        "models.m.aliases[0]",
        "models.m.fallbacks[0]",
        "models.m.regions_only[0]",
    ]
