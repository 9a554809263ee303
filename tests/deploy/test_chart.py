"""The chart, by Helm itself: what it renders is what a cluster takes, and what cannot be is refused by name."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

import heterodyne
from heterodyne.cli.main import cli
from tests.support.kubernetes.chart import CHART, helm, of_kind, rendered, template

ROOT = Path(__file__).parents[2]
VERSIONS = ("1.30", "1.34")  # the oldest that the chart is for, and one that is new
CUSTOM = {"ServiceMonitor", "PrometheusRule"}  # of the Prometheus operator, whose schemas nobody carries
SETTINGS = """[admission]
requires_key = true

[pools.chat]
model = "llama-3.1-8b"
engine = "vllm"
discover = "kubernetes"
kubernetes_service = "vllm-chat"
"""
FULL: dict[str, Any] = {
    "replicas": 3,
    "settings": SETTINGS,
    "image": {"digest": "sha256:" + "a" * 64, "pullSecrets": ["registry"]},
    "database": {"secretName": "database"},
    "redis": {"secretName": "redis"},
    "tls": {"secretName": "door"},
    "env": [{"name": "PROVIDER_KEY", "secretName": "provider", "key": "token"}],
    "console": {"enabled": True, "operatorKeys": {"secretName": "operators"}},
    "discovery": {"enabled": True, "namespaces": ["llm", "batch"]},
    "scaling": {"workloads": ["deployment/vllm-chat", "leaderworkerset/llama-405b"]},
    "autoscaling": {"enabled": True},
    "networkPolicy": {
        "ingress": [{"namespaceSelector": {}}],
        "consoleIngress": [{"podSelector": {"matchLabels": {"app": "proxy"}}}],
        "egress": [{"to": [{"namespaceSelector": {}}]}],
    },
    "serviceMonitor": {"enabled": True, "bearerTokenSecret": {"name": "metrics", "key": "token"}},
    "prometheusRule": {"enabled": True},
    "dashboards": {"enabled": True},
    "podLabels": {"team": "x"},
    "podAnnotations": {"a": "b"},
    "nodeSelector": {"pool": "cpu"},
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
    "service": {"annotations": {"a": "b"}},
    "serviceAccount": {"annotations": {"a": "b"}},
}


@pytest.mark.parametrize("values", [{}, FULL], ids=["as it comes", "everything"])
def test_every_object_is_one_that_a_cluster_takes(tmp_path: Path, values: dict[str, Any]) -> None:
    objects = rendered(tmp_path, values)
    for version in VERSIONS:
        for one in objects:
            if one["kind"] not in CUSTOM:
                kubernetes_validate.validate(one, version, strict=True)
    kinds = [one["kind"] for one in objects]
    if values:
        assert {*CUSTOM, "HorizontalPodAutoscaler", "Role", "ClusterRole", "NetworkPolicy"} <= set(kinds)
    else:
        assert sorted(kinds) == [
            "ConfigMap",
            "Deployment",
            "NetworkPolicy",
            "PodDisruptionBudget",
            "Service",
            "ServiceAccount",
        ]


def test_helm_finds_no_fault_and_packs_what_it_renders(tmp_path: Path) -> None:
    done = helm("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout
    done = helm("package", str(CHART), "--destination", str(tmp_path))
    assert done.returncode == 0, done.stderr
    [packed] = tmp_path.glob("heterodyne-*.tgz")
    assert rendered(tmp_path, FULL, packed) == rendered(tmp_path, FULL)


def test_no_pod_runs_as_root_or_writes_to_its_root(tmp_path: Path) -> None:
    [deployment] = of_kind(rendered(tmp_path, FULL), "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["terminationGracePeriodSeconds"] > 30
    assert "replicas" not in deployment["spec"], "an autoscaler has the count"


def test_secrets_are_named_and_never_written_down(tmp_path: Path) -> None:
    [deployment] = of_kind(rendered(tmp_path, FULL), "Deployment")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    named = {one["name"] for one in container["env"] if "valueFrom" in one}
    assert named == {
        "HETERODYNE_STORES__URL",
        "HETERODYNE_STORES__REDIS_URL",
        "HETERODYNE_CONSOLE__OPERATOR_KEYS_SHA256",
        "PROVIDER_KEY",
    }
    assert all("secretKeyRef" in one["valueFrom"] for one in container["env"] if "valueFrom" in one)
    assert not of_kind(rendered(tmp_path, FULL), "Secret")


def test_the_token_of_the_cluster_is_there_where_it_is_used_alone(tmp_path: Path) -> None:
    for values, has_token in (({}, False), (FULL, True)):
        [deployment] = of_kind(rendered(tmp_path, values), "Deployment")
        assert deployment["spec"]["template"]["spec"]["automountServiceAccountToken"] is has_token


def test_the_settings_are_good_with_the_environment_that_the_chart_gives(tmp_path: Path) -> None:
    objects = rendered(tmp_path, {**FULL, "tls": {}})
    [config] = [one for one in of_kind(objects, "ConfigMap") if "heterodyne.toml" in one["data"]]
    text = config["data"]["heterodyne.toml"]
    assert tomllib.loads(text) == tomllib.loads(SETTINGS)
    file = tmp_path / "heterodyne.toml"
    file.write_text(text, encoding="utf-8")
    [deployment] = of_kind(objects, "Deployment")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    secrets = {
        "HETERODYNE_STORES__URL": "postgresql://heterodyne:secret@postgres/heterodyne",
        "HETERODYNE_STORES__REDIS_URL": "redis://redis:6379/0",
        "HETERODYNE_CONSOLE__OPERATOR_KEYS_SHA256": json.dumps(["a" * 64]),
    }
    environment = {one["name"]: one.get("value") or secrets.get(one["name"], "x") for one in container["env"]}
    arguments = container["args"]
    assert arguments == ["--config", "/etc/heterodyne/heterodyne.toml", "serve"]
    result = CliRunner().invoke(
        cli,
        ["--config", str(file), "config", "check"],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), **environment},
    )
    assert result.exit_code == 0, result.output
    probes = [container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
    assert probes == ["/health/live", "/health/live", "/health/ready"]


def test_rules_and_dashboards_are_the_generated_ones(tmp_path: Path) -> None:
    objects = rendered(tmp_path, FULL)
    [rule] = of_kind(objects, "PrometheusRule")
    assert rule["spec"] == yaml.safe_load((ROOT / "deploy/prometheus/heterodyne.rules.yml").read_text(encoding="utf-8"))
    generated = {one.name: json.loads(one.read_text(encoding="utf-8")) for one in (ROOT / "deploy/grafana").iterdir()}
    carried = {
        name: json.loads(text)
        for one in of_kind(objects, "ConfigMap")
        for name, text in one["data"].items()
        if name.endswith(".json")
    }
    assert carried == generated


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"replicas": 2}, "name the database they share in database.secretName"),
        ({"replicas": 2, "database": {"secretName": "d"}}, "name the Redis that keeps their limits"),
        (
            {**FULL, "state": {"existingClaim": "claim"}},
            "state.existingClaim is for one pod alone",
        ),
        ({"console": {"enabled": True}}, "name the Secret with the operators' keys"),
        ({"scaling": {"workloads": ["deployment/chat"]}}, "what is scaled is discovered first"),
        ({"discovery": {"enabled": True}, "scaling": {"workloads": ["job/chat"]}}, "scaling.workloads"),
        ({"replcias": 2}, "replcias"),
        ({"image": {"digest": "latest"}}, "image"),
        ({"env": [{"name": "KEY", "value": "secret"}]}, "env"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, values: dict[str, Any], words: str) -> None:
    done = template(tmp_path, values)
    assert done.returncode != 0
    assert words in done.stderr


def test_every_value_is_in_the_schema_and_every_name_of_the_schema_is_a_value() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert set(values) == set(schema["properties"]) - {"global"}


def test_the_chart_is_for_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["appVersion"] == heterodyne.__version__
