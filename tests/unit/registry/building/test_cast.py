"""Another precision of the same SafeTensors, with all that lies beside them."""

import json
from pathlib import Path

import numpy as np

from heterodyne.registry.building.builder import BuildOrder
from heterodyne.registry.building.cast import CAST
from heterodyne.registry.conversion.decoders import open_safetensors
from tests.support.tiny_models import tiny_model


def test_numbers_are_halved_and_everything_beside_them_stays(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model", torch_dtype="float32")
    (model / "generation_config.json").write_text('{"temperature": 0.6}')
    order = BuildOrder(source=model, target=tmp_path / "out", model="m", precision="fp16", hardware="any", settings={})
    CAST.run(order, lambda done, of: None)
    assert {path.name for path in order.target.iterdir()} == {path.name for path in model.iterdir()}
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        assert (order.target / name).read_bytes() == (model / name).read_bytes()
    config = json.loads((order.target / "config.json").read_text())
    assert (config["dtype"], config["torch_dtype"]) == ("float16", "float16")
    source, made = (open_safetensors(folder).checkpoint for folder in (model, order.target))
    for name in source.names:
        assert made.place(name).dtype == "F16"
        np.testing.assert_allclose(made.values(name), source.values(name), rtol=1e-3, atol=1e-6)
