"""`hardware list` and `hardware show`."""

import json

from heterodyne.physics.catalogue import accelerators


def test_list_has_a_row_for_every_chip(run) -> None:
    lines = run("hardware", "list").stdout.splitlines()
    assert lines[0].split()[:3] == ["NAME", "VENDOR", "MEMORY"]
    assert [line.split()[0] for line in lines[1:]] == list(accelerators())


def test_list_as_json_has_every_fact(run) -> None:
    found = {chip["name"]: chip for chip in json.loads(run("hardware", "list", "--json").stdout)}
    assert found["h100-sxm"]["flops"]["fp8"] == 1979e12
    assert found["h100-sxm"]["prices"][0]["source"] == "sky"


def test_show_puts_a_source_beside_each_number(run) -> None:
    text = run("hardware", "show", "h100").stdout
    line = next(line for line in text.splitlines() if line.startswith("bf16 achievable"))
    assert line.split() == ["bf16", "achievable", "794.5", "TFLOPS", "mle_mamf"]
    assert "\n  mle_mamf: Machine Learning Engineering" in text
    assert ["gcp", "9.80", "on", "demand,", "host", "apart", "2026-08-22", "sky"] in [
        row.split() for row in text.splitlines()
    ]


def test_show_as_json_explains_its_sources(run) -> None:
    shown = json.loads(run("hardware", "show", "l4", "--json").stdout)
    assert shown["accelerator"]["name"] == "l4"
    assert set(shown["sources"]) == {"aic", "sky", "unverified"}


def test_every_chip_can_be_shown(run) -> None:
    assert [name for name in accelerators() if run("hardware", "show", name).exit_code != 0] == []


def test_an_unknown_chip_is_wrong_usage_and_names_the_nearest(run) -> None:
    result = run("hardware", "show", "mi300")
    assert result.exit_code == 2
    assert 'no accelerator "mi300"; did you mean "mi300x"' in result.stderr
