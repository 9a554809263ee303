"""Pools that take their addresses from an InferencePool."""

from pathlib import Path
from typing import Any

import pytest

from heterodyne.config.load import load
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings

MANIFESTS = """
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: chat, namespace: serving}
spec: {selector: {matchLabels: {app: vllm}}, targetPorts: [{number: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: serving, labels: {app: vllm}}
status: {podIP: 10.0.0.1}
---
kind: InferenceObjective
metadata: {name: crawl}
spec: {priority: -1}
"""


def loaded(tmp_path: Path, pool: str, picker: str = 'manifests = "{folder}"', manifests: str = MANIFESTS) -> Settings:
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "all.yaml").write_text(manifests)
    file = tmp_path / "heterodyne.toml"
    file.write_text(f'[endpoint_picker]\n{picker.format(folder=folder)}\n[pools.p]\nmodel = "m"\n{pool}\n')
    return load(file, {}, {})


def problems(*arguments: Any, **more: Any) -> str:
    with pytest.raises(SettingsProblems) as error:
        loaded(*arguments, **more)
    return error.value.message


def test_its_endpoints_and_the_priorities_beside_it_become_settings(tmp_path: Path) -> None:
    picker = 'manifests = "{folder}"\nobjectives = {{ chat = 5 }}'
    settings = loaded(tmp_path, 'inference_pool = "serving/chat"', picker)
    assert settings.pools["p"].urls == ("http://10.0.0.1:8000",)
    assert settings.endpoint_picker.objectives == {"crawl": -1, "chat": 5}


def test_one_without_pods_has_no_replicas_yet(tmp_path: Path) -> None:
    manifests = MANIFESTS.replace("app: vllm}}\nstatus", "app: web}}\nstatus").replace(
        "{app: vllm}}\n", "{app: web}}\n"
    )
    assert loaded(tmp_path, 'inference_pool = "serving/chat"', manifests=manifests).pools["p"].urls == ()


def test_one_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    said = problems(tmp_path, 'inference_pool = "serving/chta"')
    assert 'pools.p.inference_pool: no InferencePool "serving/chta"' in said
    assert 'did you mean "serving/chat"?' in said


def test_addresses_come_from_one_place(tmp_path: Path) -> None:
    said = problems(tmp_path, 'inference_pool = "serving/chat"\nurls = ["http://10.0.0.9:80"]')
    assert "both urls and inference_pool" in said


def test_it_needs_manifests(tmp_path: Path) -> None:
    said = problems(tmp_path, 'inference_pool = "serving/chat"', "port = 9002")
    assert "pools.p.inference_pool: needs endpoint_picker.manifests" in said


def test_manifests_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    said = problems(tmp_path, 'urls = ["http://10.0.0.9:80"]', manifests="a: [")
    assert said.startswith("endpoint_picker.manifests: ")
