"""Instructions per request: what callgrind writes is read, given to parts, and compared."""

from pathlib import Path

import pytest

from benchmarks.instructions import baseline
from benchmarks.instructions.callgrind import read_dump
from benchmarks.instructions.measure import Counted
from benchmarks.instructions.parts import part_of

DUMP = """\
# callgrind format
version: 1
positions: line
events: Ir
ob=(1) /usr/bin/python3.11
fl=(1) ceval.c
fn=(1) _PyEval_EvalFrameDefault
10 100
+2 20
cob=(2) /tmp/heterodyne__mypyc.cpython-311.so
cfn=(2) CPyDef_exchange___Exchange___start
calls=3 0
* 5000

ob=(2)
fl=(2) native.c
fn=(2)
5 40
fe=(1)
6 2
totals: 5162
""".splitlines()


def counted(total: int) -> Counted:
    return Counted(gateway="heterodyne", scenario="request", form="python", parts={"Python": total})


def test_the_costs_of_calls_are_their_callees_alone() -> None:
    dump = read_dump(DUMP)
    assert dump.by_function == {
        ("/usr/bin/python3.11", "_PyEval_EvalFrameDefault"): 120,
        ("/tmp/heterodyne__mypyc.cpython-311.so", "CPyDef_exchange___Exchange___start"): 42,
    }
    assert dump.instructions == 162


@pytest.mark.parametrize(
    ("library", "function", "part"),
    [
        ("/usr/bin/python3.11", "PyDict_New", "Python"),
        ("/x/libpython3.11.so.1.0", "PyDict_New", "Python"),
        ("/x/uvloop/loop.cpython-311-aarch64-linux-gnu.so", "uv_run", "uvloop"),
        ("/x/msgspec/_core.cpython-311-aarch64-linux-gnu.so", "json_decode", "msgspec"),
        ("/x/heterodyne__mypyc.cpython-311.so", "CPyDef_exchange___Exchange___start", "gateway"),
        ("/x/heterodyne__mypyc.cpython-311.so", "CPyPy_health___outlier___Outlier___note", "routing"),
        ("/x/heterodyne__mypyc.cpython-311.so", "CPyDict_GetItem", "mypyc's runtime"),
        ("/x/libfoo.so", "foo", "other libraries"),
    ],
)
def test_functions_belong_to_parts(library: str, function: str, part: str) -> None:
    assert part_of(library, function) == part


def test_growth_is_told_beyond_five_per_cent_of_what_this_kind_of_machine_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "FILE", tmp_path / "baseline.json")
    assert baseline.growths((counted(200_000),)) == (), "nothing is known yet"
    baseline.write((counted(100_000),))
    assert baseline.growths((counted(104_900),)) == ()
    (sentence,) = baseline.growths((counted(106_000),))
    assert sentence == "heterodyne, request, python: 106,000 instructions per request, +6.0% beside 100,000"
    baseline.write((counted(106_000),))
    assert baseline.growths((counted(106_000),)) == ()


def test_what_the_c_library_takes_is_not_compared() -> None:
    one = Counted(gateway="heterodyne", scenario="prompt", form="python", parts={"Python": 100, "C library": 900})
    assert (one.total, one.own) == (1000, 100)
