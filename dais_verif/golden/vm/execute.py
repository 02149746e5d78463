"""Run a compiled sequence, with a selectable level of checks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import EngineError, EngineFailure, InputError, ViolationError
from dais_verif.golden import oracle
from dais_verif.golden.fast import why_not
from dais_verif.golden.vm.check_sequence import Fault, first_fault
from dais_verif.golden.vm.instructions import Checks, InstructionSequence, neighbours
from dais_verif.golden.vm.machine import Event, FastExecutor, ForwardExecutor, NumpyExecutor, Outcome
from dais_verif.golden.vm.pullback import pullback_steps
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.numbers import Batch, doubles_of_raw

__all__ = [
    "ENGINES",
    "EXECUTORS",
    "Execution",
    "MachineViolation",
    "OBSERVER",
    "ViolationWarning",
    "Watch",
    "accept_instructions",
    "batch_of",
    "executor_of",
    "of_fault",
    "of_op",
    "seed_of",
]


# Messages about broken promises: the place in the sequence, the operands, the exact result.


class MachineViolation(ViolationError):
    """A promise was broken in a run of the VM. The message shows the instruction with its neighbours.

    ``promise``: ``value`` (an op that must not change its value did), ``table index``, ``operand order`` or
    ``buffer width``. ``words``: what happened. ``op`` and ``position``: the op and its instruction. ``row``: the row in
    which it happened; None if the fault holds for all rows.
    """

    def __init__(
        self, iseq: InstructionSequence, promise: str, position: int, words: str, *, row: int | None = None
    ) -> None:
        where = f"instruction {position} of the {iseq.direction} sequence{'' if row is None else f', row {row}'}"
        super().__init__(f"{promise} promise broken at {where}: {words}\n{neighbours(iseq, position)}")
        self.promise, self.position, self.words, self.row = promise, position, words, row
        self.op = iseq[position].node


class ViolationWarning(UserWarning):
    """Issued if a promise was broken in a run that continues with the quantised value."""


def of_op(iseq: InstructionSequence, batch: Batch, row: int, op: int | None) -> MachineViolation:
    """Return the oracle's violation in ``row``, of ``op`` or of the first op that broke its promise."""
    violations: list[oracle.Violation] = []
    oracle.trace(iseq.program, batch.row(row), violations=violations)
    found = next((v for v in violations if op is None or v.op.index == op), None)
    if found is None:
        raise AssertionError(f"machine and oracle differ: violation at op {op}, row {row}")
    position = int(np.flatnonzero(iseq.columns.value == found.op.index)[0])
    promise = "table index" if found.exact is None else "value"
    return MachineViolation(iseq, promise, position, str(found), row=row)


def of_fault(iseq: InstructionSequence, batch: Batch | None, fault: Fault) -> MachineViolation:
    """Return the violation of an instruction that does not compute its op, with values of the first row."""
    node, words = iseq[fault.position].node, fault.words
    if batch is not None and batch.rows and node is not None:
        values = oracle.trace(iseq.program, batch.row(0), violations=[])
        op = iseq.program.ops[node]
        read = "".join(f"op {i} = {oracle.show(values[i])}, " for i in op.operands)
        words += f" (in row 0: {read}exact result {oracle.show(values[node])})"
    return MachineViolation(iseq, fault.promise, fault.position, words)


# Run a compiled sequence, with a selectable level of checks.


#: Executors of a forward sequence; ``auto`` is the first one that accepts the program.
EXECUTORS: dict[str, Callable[[InstructionSequence], ForwardExecutor]] = {"fast": FastExecutor, "numpy": NumpyExecutor}
ENGINES = ("auto", *EXECUTORS)

#: Called after every instruction with the sequence, the inputs (None for a pullback), the chunk's first row, the event.
Watch = Callable[[InstructionSequence, Batch | None, int, Event], None]
OBSERVER: ContextVar[Watch | None] = ContextVar("OBSERVER", default=None)


@dataclass(frozen=True, eq=False)
class Execution:
    """One run of a sequence.

    ``columns``: for a forward run, the raw integers (rows,) of every output, in units of ``2**-f`` of its type in
    ``kinds``; for a pullback, the gradients, float64 (rows,), of every input. ``checks``: the promises that were
    checked. ``violation``: the first violation, if the run continued after it.
    """

    columns: tuple[NDArray[Any], ...]
    kinds: tuple[FixedType, ...] | None
    checks: Checks
    rows: int
    violation: MachineViolation | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """Return outputs or gradients as float64 (rows, n). Raises ``InputError`` if an output does not fit exactly."""
        columns = self.columns
        if self.kinds is not None:
            columns = tuple(doubles_of_raw(raw, self.kinds[j].f, j) for j, raw in enumerate(columns))
        return np.stack(columns, axis=1) if columns else np.zeros((self.rows, 0))


def accept_instructions(
    iseq: InstructionSequence,
    x: Any = None,
    *,
    opt_level: Literal[1, 2, 3] = 2,
    on_violation: Literal["raise", "warn"] = "raise",
    engine: str = "auto",
) -> Execution:
    """Run ``iseq`` on ``x``.

    ``x``: input vectors (rows, n_in) for a forward sequence, as for ``dais_verif.run``; for a pullback, the gradient of
    the outputs, (rows, n_out) or (n_out,), all ones if not given. ``opt_level``: promises are checked on every run (1),
    until a run of this sequence that checks at least one row is completed (2), or never (3); without violations, all
    levels give the same bits.
    ``on_violation``: ``warn`` gives a ``ViolationWarning`` and continues with the quantised value. ``engine``: the
    executor of a forward sequence: ``fast`` (the C kernel), ``numpy``, or ``auto``, which is the fast one if it
    supports the program.

    Raises ``MachineViolation``, and ``InputError`` for unusable arguments or a pullback without a forward run.
    """
    _require(isinstance(iseq, InstructionSequence), f"iseq must be a compiled sequence, not {type(iseq).__name__}")
    _require(opt_level in (1, 2, 3), f"opt_level must be 1, 2 or 3, not {opt_level!r}")
    _require(on_violation in ("raise", "warn"), f"on_violation must be 'raise' or 'warn', not {on_violation!r}")
    _require(engine in ENGINES, f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    checked = opt_level == 1 or (opt_level == 2 and not iseq.runtime.checked)
    broken: list[MachineViolation] = []

    def tell(violation: MachineViolation) -> None:
        if on_violation == "raise":
            raise violation
        warnings.warn(str(violation), ViolationWarning, stacklevel=4)
        broken.append(violation)

    run = _forward if iseq.direction == "forward" else _pullback
    columns, rows = run(iseq, x, checked, tell, engine)
    iseq.runtime.checked |= checked and rows > 0
    return Execution(
        columns=columns,
        kinds=iseq.program.output_types if iseq.direction == "forward" else None,
        checks=iseq.checks if checked else iseq.checks._replace(checked=0),
        rows=rows,
        violation=broken[0] if broken else None,
    )


def batch_of(iseq: InstructionSequence, x: Any) -> Batch:
    """Return the input vectors of a forward run."""
    _require(x is not None, "a forward sequence needs input vectors x, (rows, n_in)")
    return Batch.of(x, iseq.program.n_in)


def seed_of(iseq: InstructionSequence, g: Any) -> NDArray[np.float64]:
    """Return the gradient of the outputs, with which a pullback starts, (rows, n_out) for the forward run's rows."""
    rows, n_out = iseq.tape.rows, iseq.program.n_out
    if rows is None:
        raise EngineError(
            "the pullback needs what a forward run leaves behind; run accept_instructions(compilation.forward, x) first"
        )
    try:
        seed = np.ones(n_out) if g is None else np.asarray(g, dtype=np.float64)
    except (TypeError, ValueError):
        raise EngineError("the gradient of the outputs must be an array of numbers") from None
    _require(
        seed.shape in ((n_out,), (rows, n_out)),
        f"the gradient of the outputs has shape {seed.shape}, must be ({n_out},) or ({rows}, {n_out})",
    )
    return np.broadcast_to(seed, (rows, n_out))


Tell = Callable[[MachineViolation], None]
Result = tuple[tuple[NDArray[Any], ...], int]


def _forward(iseq: InstructionSequence, x: Any, checked: bool, tell: Tell, engine: str) -> Result:
    batch, tape, saved_slots = batch_of(iseq, x), iseq.tape, iseq.allocation.saved_slots
    tape.rows = None  # a pullback must not use the values of an earlier run
    fault = first_fault(iseq) if checked else None
    if fault is not None:
        tell(of_fault(iseq, batch, fault))
    outcome = _computed(iseq, batch, checked, engine)
    if outcome.violation is not None:
        tell(of_op(iseq, batch, *outcome.violation))
    tape.slots = dict(zip(saved_slots.tolist(), outcome.saved, strict=True))
    tape.rows = batch.rows
    return tuple(outcome.outputs), batch.rows


def _computed(iseq: InstructionSequence, batch: Batch, checked: bool, engine: str) -> Outcome:
    watch = OBSERVER.get()
    if watch is not None:
        return NumpyExecutor(iseq).run(batch, check=checked, observer=lambda row, event: watch(iseq, batch, row, event))
    return executor_of(iseq, engine).run(batch, check=checked and iseq.checks.checked > 0)


def executor_of(iseq: InstructionSequence, engine: str) -> ForwardExecutor:
    """Return the executor of a forward sequence, created on first use. Raises as ``accept_instructions`` does."""
    _require(engine in ENGINES, f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if engine not in iseq.runtime.executors:
        iseq.runtime.executors[engine] = _executor(iseq, engine)
    return iseq.runtime.executors[engine]


def _executor(iseq: InstructionSequence, engine: str) -> ForwardExecutor:
    problem = why_not() if engine != "numpy" else ""
    if problem and engine == "fast":
        raise EngineFailure(f"engine fast: {problem}; use engine numpy, which gives the same results")
    if engine != "auto":
        return EXECUTORS[engine](iseq)
    try:
        return NumpyExecutor(iseq) if problem else FastExecutor(iseq)
    except InputError:
        return NumpyExecutor(iseq)


def _pullback(iseq: InstructionSequence, x: Any, checked: bool, tell: Tell, engine: str) -> Result:
    seed = seed_of(iseq, x)
    fault = first_fault(iseq) if checked else None
    if fault is not None:
        tell(of_fault(iseq, None, fault))
    gradient = np.zeros((len(seed), iseq.program.n_in))
    watch = OBSERVER.get()
    for position, result in pullback_steps(iseq, seed, gradient):
        if watch is not None:
            watch(iseq, None, 0, Event(position, result, None))
    return tuple(gradient.T), len(seed)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise EngineError(message)
