"""Small programs, and the same programs as handwritten steps of Verilog, which the random clocked designs compute."""

from __future__ import annotations

from dataclasses import dataclass

from dais_verif.spec.program import Program

__all__ = ["TASKS", "Step", "Task"]


@dataclass(frozen=True)
class Step:
    """A step; ``text``: a Verilog expression over ``{name}``s; ``width``, ``signed``: the type of its value."""

    name: str
    width: int
    signed: bool
    text: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A program and its steps.

    ``inputs``: the first ones are in the lowest bits of ``model_inp``. ``outputs``: names, in the same order.
    ``wrong``: steps with a mistake, each of which replaces the step of the same name.
    """

    program: Program
    inputs: tuple[Step, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    wrong: tuple[Step, ...]


def _inputs(*kinds: tuple[str, int, bool]) -> tuple[Step, ...]:
    found, low = [], 0
    for name, width, signed in kinds:
        found.append(Step(name, width, signed, f"model_inp[{low + width - 1}:{low}]", ()))
        low += width
    return tuple(found)


def _mux(condition: int, shift: int = 0) -> int:
    return shift << 32 | condition


TASKS: dict[str, Task] = {
    "sum": Task(
        Program.build(
            [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 5, 0))],
            [(2, 0, 0)],
            inp_shift=[0, 0],
        ),
        _inputs(("a", 4, False), ("b", 4, False)),
        (Step("s", 5, False, "{a} + {b}", ("a", "b")),),
        ("s",),
        (Step("s", 5, False, "{a} | {b}", ("a", "b")), Step("s", 5, False, "{a} + {a}", ("a", "b"))),
    ),
    "product plus five": Task(
        Program.build(
            [
                (-1, 0, -1, 0, (1, 3, 0)),
                (-1, 1, -1, 0, (1, 3, 0)),
                (7, 0, 1, 0, (1, 7, 0)),
                (4, 2, -1, 5, (1, 8, 0)),
            ],
            [(3, 0, 0)],
            inp_shift=[0, 0],
        ),
        _inputs(("x", 4, True), ("y", 4, True)),
        (Step("p", 8, True, "{x} * {y}", ("x", "y")), Step("q", 9, True, "{p} + 9'sd5", ("p",))),
        ("q",),
        (Step("q", 9, True, "{p} + 9'sd4", ("p",)), Step("p", 8, True, "{x} * {x}", ("x", "y"))),
    ),
    "difference, and the positive part of it": Task(
        Program.build(
            [
                (-1, 0, -1, 0, (1, 4, 0)),
                (-1, 1, -1, 0, (1, 4, 0)),
                (1, 0, 1, 0, (1, 5, 0)),
                (2, 2, -1, 0, (0, 5, 0)),
            ],
            [(2, 0, 0), (3, 0, 0)],
            inp_shift=[0, 0],
        ),
        _inputs(("x", 5, True), ("y", 5, True)),
        (
            Step("d", 6, True, "{x} - {y}", ("x", "y")),
            Step("r", 5, False, "({d} < 0) ? 5'd0 : {d}[4:0]", ("d",)),
        ),
        ("d", "r"),
        (
            Step("r", 5, False, "({d} <= 0) ? 5'd1 : {d}[4:0]", ("d",)),
            Step("d", 6, True, "{y} - {x}", ("x", "y")),
        ),
    ),
    "the larger one": Task(
        Program.build(
            [
                (-1, 0, -1, 0, (1, 3, 0)),
                (-1, 1, -1, 0, (1, 3, 0)),
                (1, 0, 1, 0, (1, 4, 0)),
                (6, 1, 0, _mux(2), (1, 3, 0)),
            ],
            [(3, 0, 0)],
            inp_shift=[0, 0],
        ),
        _inputs(("x", 4, True), ("y", 4, True)),
        (
            Step("d", 5, True, "{x} - {y}", ("x", "y")),
            Step("m", 4, True, "{d}[4] ? {y} : {x}", ("d", "x", "y")),
        ),
        ("m",),
        (
            Step("m", 4, True, "{d}[4] ? {x} : {y}", ("d", "x", "y")),
            Step("d", 5, True, "{y} - {x}", ("x", "y")),
        ),
    ),
    "a square less what it is made of": Task(
        Program.build(
            [
                (-1, 0, -1, 0, (0, 5, 0)),
                (4, 0, -1, 3, (0, 6, 0)),
                (7, 1, 1, 0, (0, 12, 0)),
                (1, 2, 0, 0, (1, 12, 0)),
            ],
            [(3, 0, 0), (0, 0, 0)],
            inp_shift=[0],
        ),
        _inputs(("a", 5, False)),
        (
            Step("t", 6, False, "{a} + 6'd3", ("a",)),
            Step("u", 12, False, "{t} * {t}", ("t",)),
            Step("v", 13, True, "{u} - {a}", ("u", "a")),
        ),
        ("v", "a"),
        (
            Step("v", 13, True, "{u} - {a} + (&{a})", ("u", "a")),
            Step("t", 6, False, "{a} + 6'd2", ("a",)),
        ),
    ),
}  # fmt: skip
