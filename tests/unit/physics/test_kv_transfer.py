"""Moving KV against computing it: the published numbers."""

import pytest

from heterodyne.physics.hardware import Link
from heterodyne.physics.kv import kv_bytes_per_token, transfer_s
from heterodyne.physics.model_shapes import model_spec

LLAMA = kv_bytes_per_token(model_spec("llama-3.1-70b"))
QWEN = kv_bytes_per_token(model_spec("qwen3-32b"))


def link(gigabytes_per_s: float, latency_s: float = 0.0) -> Link:
    rate = gigabytes_per_s * 1e9
    return Link(name="link", bytes_per_s=rate, pair_bytes_per_s=rate, latency_s=latency_s)


@pytest.mark.parametrize(
    ("gigabytes_per_s", "seconds"),
    [(450, 0.024), (49.5, 0.217), (12.1, 0.89), (4.8, 2.2), (0.55, 19.5)],
    ids=["nvlink4", "ib-400", "roce-100", "tcp-uccl", "tcp-ucx-gpu"],
)
def test_a_32k_prompt_of_a_70b_takes_what_was_published(gigabytes_per_s: float, seconds: float) -> None:
    assert transfer_s(32_768 * LLAMA, link(gigabytes_per_s)) == pytest.approx(seconds, rel=0.02)
