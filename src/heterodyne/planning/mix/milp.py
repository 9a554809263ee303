"""A small mixed-integer linear programme, built column by column and row by row, minimised by HiGHS."""

from math import inf, isfinite

import highspy
import numpy as np
from msgspec import Struct

GAP_MAX = 1e-9  # as good as none: a cent in ten million dollars
Row = dict[int, float]  # column: coefficient


class Solution(Struct, frozen=True, kw_only=True):
    """The best point found."""

    values: tuple[float, ...]  # of every column
    gap: float  # share of its cost by which an optimum might be cheaper; 0 when it is one


class Milp:
    """Minimise the cost of the columns within the rows."""

    def __init__(self) -> None:
        self._costs: list[float] = []
        self._lower: list[float] = []
        self._upper: list[float] = []
        self._integers: list[bool] = []
        self._rows: list[tuple[Row, float, float]] = []

    def integer(self, cost: float, lower: int, upper: int) -> int:
        """A new whole number; returns its column."""
        return self._column(cost, float(lower), float(upper), is_integer=True)

    def continuous(self, cost: float, lower: float, upper: float) -> int:
        """A new real number; returns its column."""
        return self._column(cost, lower, upper, is_integer=False)

    def at_most(self, row: Row, limit: float) -> None:
        """The weighted sum of the columns stays at or below the limit."""
        self._rows.append((row, -inf, limit))

    def exactly(self, row: Row, value: float) -> None:
        """The weighted sum of the columns is the value."""
        self._rows.append((row, value, value))

    def solve(self, time_limit_s: float) -> Solution | None:
        """The optimum, or the best found in time; None when the rows contradict each other or nothing was found."""
        solver = self._run(time_limit_s)
        values = tuple(solver.getSolution().col_value)
        if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            return Solution(values=values, gap=0.0)
        found = solver.getInfo()
        if found.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible and isfinite(found.mip_gap):
            return Solution(values=values, gap=found.mip_gap)
        return None

    def reduced_costs(self, time_limit_s: float) -> tuple[float, ...] | None:
        """How much too dear every column is to be worth using; for programmes without whole numbers."""
        solver = self._run(time_limit_s)
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return tuple(solver.getSolution().col_dual)

    def _run(self, time_limit_s: float) -> highspy.Highs:
        solver = highspy.Highs()  # type: ignore[no-untyped-call]  # its stubs leave the constructor out
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("time_limit", time_limit_s)
        solver.setOptionValue("mip_rel_gap", GAP_MAX)
        solver.setOptionValue("threads", 1)  # the same answer every time
        solver.passModel(self._model())
        solver.run()
        return solver

    def _column(self, cost: float, lower: float, upper: float, *, is_integer: bool) -> int:
        self._costs.append(cost)
        self._lower.append(lower)
        self._upper.append(upper)
        self._integers.append(is_integer)
        return len(self._costs) - 1

    def _model(self) -> highspy.HighsLp:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self._costs), len(self._rows)
        model.col_cost_ = np.array(self._costs)
        model.col_lower_ = np.array(self._lower)
        model.col_upper_ = np.array(self._upper)
        model.row_lower_ = np.array([lower for _, lower, _ in self._rows])
        model.row_upper_ = np.array([upper for _, _, upper in self._rows])
        starts = np.cumsum([0, *(len(row) for row, _, _ in self._rows)])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = starts.astype(np.int32)
        model.a_matrix_.index_ = np.array([column for row, _, _ in self._rows for column in row], dtype=np.int32)
        model.a_matrix_.value_ = np.array([value for row, _, _ in self._rows for value in row.values()])
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[is_integer] for is_integer in self._integers]
        return model
