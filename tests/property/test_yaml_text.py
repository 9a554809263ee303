"""Our YAML means to any reader what we meant."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.planning.yaml_text import yaml_text

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(
        ["yes", "No", "null", "~", "1e3", "0x1f", "1:30", "- a", "a: b", "#", "--host", "a:", "=", "<<", ""]
    )
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab:#- \n'\"", max_size=4), inner)
)


@given(value=VALUES)
def test_what_is_written_is_read_back_unchanged(value: object) -> None:
    assert yaml.safe_load(yaml_text(value)) == value  # type: ignore[arg-type]
