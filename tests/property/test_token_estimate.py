"""Whatever is counted in whatever order, an estimate stays what text can be, and one tenant's is not another's."""

from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.admission.tokens import FIXED_MAX, RATE_MAX, RATE_MIN, RATE_PRIOR, TokenEstimator
from tests.support.splits import bounded

sizes = st.one_of(st.integers(0, 600), st.integers(0, 10**7))
counts = st.lists(st.tuples(sizes, st.integers(-1, 10**7), st.booleans()), max_size=60)


def taught(counted: list[tuple[int, int, bool]], tenant: bytes = b"") -> TokenEstimator:
    estimator = TokenEstimator()
    for prompt_bytes, prompt_tokens, is_refused in counted:
        estimator.learn("m", prompt_bytes, prompt_tokens, tenant)
        if is_refused:
            estimator.doubt("m", tenant)
    return estimator


@bounded
@given(counts, sizes)
def test_an_estimate_is_what_a_tokenizer_could_say(counted: list[tuple[int, int, bool]], prompt_bytes: int) -> None:
    estimator = taught(counted)
    tokens = estimator.estimate("m", prompt_bytes)
    assert RATE_MIN * prompt_bytes - 1 <= tokens <= FIXED_MAX + RATE_MAX * prompt_bytes + 1
    assert all(error >= 0 and isfinite(error) for error in estimator.error_ratio.values())


@bounded
@given(counts, sizes)
def test_no_prompts_of_one_tenant_move_anothers_estimate_by_more_than_a_fifth(
    counted: list[tuple[int, int, bool]], prompt_bytes: int
) -> None:
    tokens, untaught = taught(counted, b"evil").estimate("m", prompt_bytes, b"acme"), RATE_PRIOR * prompt_bytes
    assert untaught / 1.2 - 1 <= tokens <= untaught * 1.2 + 10


@bounded
@given(counts, sizes, sizes)
def test_one_more_prompt_is_a_small_step(
    counted: list[tuple[int, int, bool]], prompt_bytes: int, prompt_tokens: int
) -> None:
    estimator = taught(counted)
    before = estimator.estimate("m", 4000)
    estimator.learn("m", prompt_bytes, prompt_tokens)
    assert abs(estimator.estimate("m", 4000) - before) <= 0.031 * before + 3
