"""The 24 noiseless BBOB functions of COCO (coco-experiment), for `noregret bench bbob`: no optimiser, only values.

    {"cmd":"problem","function":3,"dimension":5,"instance":2} -> {"ok":true,"bounds":[[-5,5],...],"optimum":77.66,...}
    {"cmd":"evaluate","points":[[0.1,...],...]}               -> {"values":[327.9,...]}

Everything is minimised. COCO ends the process (or reads beyond the point) when asked for what it does not have, so
functions, dimensions and the lengths of points are checked here.
"""

from __future__ import annotations

from typing import Any

from protocol import answer_lines

FUNCTIONS = range(1, 25)
DIMENSIONS = range(2, 41)  # the suite's; its arrays overflow somewhere above 45
BOUNDS = [-5.0, 5.0]  # of every coordinate, by definition of the suite


class Suite:
    """The problem that was asked for last."""

    def __init__(self) -> None:
        self.problem: Any = None

    def answer(self, command: str, request: dict[str, Any]) -> dict[str, Any]:
        if command == "problem":
            return self.open(int(request["function"]), int(request["dimension"]), int(request["instance"]))
        if command == "evaluate":
            return {"values": [self.value(point) for point in request["points"]]}
        return {"error": f"unknown command {command!r}"}

    def open(self, function: int, dimension: int, instance: int) -> dict[str, Any]:
        import cocoex  # here, so that an environment without it is an answer rather than an exit

        self.problem = None
        if function not in FUNCTIONS or dimension not in DIMENSIONS or instance < 1:
            raise ValueError(f"no function {function} with instance {instance} in {dimension} dimensions")
        # The suite's own problems hide their optimum (`final_target_fvalue1` raises); this is the same function without
        # a logger, equal to the last bit.
        self.problem = cocoex.BareProblem("bbob", function, dimension, instance)
        return {
            "ok": True,
            "id": str(self.problem),
            "version": cocoex.__version__,
            "bounds": [BOUNDS] * dimension,
            "optimum": float(self.problem.best_value()),
        }

    def value(self, point: list[float]) -> float:
        if self.problem is None:
            raise ValueError("evaluate before a problem")
        if len(point) != self.problem.dimension:
            raise ValueError(f"a point of {len(point)} coordinates in {self.problem.dimension} dimensions")
        return float(self.problem([float(x) for x in point]))


if __name__ == "__main__":
    answer_lines(Suite().answer)
