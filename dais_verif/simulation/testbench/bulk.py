"""The bulk path: the loop in ``native/bulk.cpp``, part of every Verilator simulation, without Python per vector.

For use in the simulator's process only. Calls release Python's lock, so threads run in parallel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation.testbench.packed_rows import Words, bits_of_row, row_words

__all__ = ["FILLINGS", "Evaluator", "evaluator", "outputs_and_unknown", "run_sequence", "unknown_bits"]

#: Values for all that nothing drives or initialises, where Verilog has X. Runs take 0; these must give the same
#: outputs: 1, and random bits of some seeds.
FILLINGS = (1, 2, 3, 4, 5, 6, 7)
#: The number of rows that run with all of them; the others run with the first one.
_IN_ALL = 1024

Evaluator = Callable[[Words, int], Words]


@contextmanager
def evaluator(interface: DesignInterface, output_words: int | None = None, *, filling: int = 0) -> Iterator[Evaluator]:
    """Open an instance of the design: a function from packed inputs and latency to packed outputs.

    For one thread at a time. ``output_words``: the words of an output row, if there are gaps between its ports.
    ``filling``: one of ``FILLINGS``. Open it before simulated time passes: Verilator refuses later. Raises
    ``RuntimeError`` if the design has another interface.
    """
    with _instance(interface, filling) as (library, instance):

        def evaluate(inputs: Words, latency: int) -> Words:
            inputs = np.ascontiguousarray(inputs)
            found = np.zeros((len(inputs), output_words or row_words(interface.output_bits)), dtype="<u8")
            given, taken = inputs.ctypes.data, found.ctypes.data
            library.dais_verif_evaluate(instance, given, inputs.shape[1], taken, found.shape[1], len(inputs), latency)
            return found

        yield evaluate


def run_sequence(interface: DesignInterface, inputs: Words, filling: int = 0) -> Words:
    """Return the outputs of a machine from power-up: two packed rows per cycle, before its edge and after it.

    As with ``evaluator``, call it before simulated time passes; each call opens a new instance.
    """
    inputs = np.ascontiguousarray(inputs)
    found = np.zeros((2 * len(inputs), row_words(interface.output_bits)), dtype="<u8")
    with _instance(interface, filling) as (library, instance):
        given, taken = inputs.ctypes.data, found.ctypes.data
        library.dais_verif_sequence(instance, given, inputs.shape[1], taken, found.shape[1], len(inputs))
    return found


def outputs_and_unknown(
    instances: Sequence[Evaluator], inputs: Words, latency: int, bits: int
) -> tuple[Words, dict[int, str]]:
    """Return the outputs of ``inputs``, and the rows with X: those that change with the filling.

    ``instances``: the design with filling 0, then with those of ``FILLINGS`` that count. ``bits``: of an output row.
    """
    own, *filled_otherwise = instances
    found = own(inputs, latency)
    others = [
        evaluate(inputs if number == 0 else inputs[:_IN_ALL], latency)
        for number, evaluate in enumerate(filled_otherwise)
    ]
    return found, unknown_bits(found, others, bits)


def unknown_bits(found: Words, filled_otherwise: Sequence[Words], bits: int) -> dict[int, str]:
    """Return the rows that change with the filling, with X for each bit that changes.

    ``found``: rows of ``bits`` bits; ``filled_otherwise``: the same rows, or the first of them, with other fillings.
    """
    differing = np.zeros_like(found)
    for other in filled_otherwise:
        differing[: len(other)] |= found[: len(other)] ^ other
    unknown = {}
    for row in np.flatnonzero(differing.any(axis=1)).tolist():
        changes, text = (bits_of_row(words, row, bits) for words in (differing, found))
        unknown[row] = "".join("x" if change == "1" else bit for change, bit in zip(changes, text, strict=True))
    return unknown


@contextmanager
def _instance(interface: DesignInterface, filling: int) -> Iterator[tuple[ctypes.CDLL, int]]:
    """Open the library and an instance of the design in it. Raises ``RuntimeError`` for another interface."""
    library = ctypes.CDLL(None)
    library.dais_verif_open.restype = ctypes.c_void_p
    library.dais_verif_open.argtypes = [ctypes.c_char_p, ctypes.c_int]
    library.dais_verif_close.argtypes = [ctypes.c_void_p]
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.dais_verif_evaluate.argtypes = [pointer, pointer, size, pointer, size, size, size]
    library.dais_verif_evaluate.restype = None
    library.dais_verif_sequence.argtypes = [pointer, pointer, size, pointer, size, size]
    library.dais_verif_sequence.restype = None
    instance = library.dais_verif_open("\n".join(_lines(interface)).encode(), filling)
    if instance is None:
        raise RuntimeError("the bulk path cannot find the ports of the design")
    try:
        yield library, instance
    finally:
        library.dais_verif_close(instance)


def _lines(interface: DesignInterface) -> list[str]:
    """Return the interface in the form for ``dais_verif_open``: enabled, valid, not in reset."""
    lines = [f"input {wire.name} {wire.offset} {wire.width}" for wire in interface.inputs]
    lines += [f"output {wire.name} {wire.offset} {wire.width}" for wire in interface.outputs]
    lines += [f"set {name} {value}" for name, value in interface.ties]
    clocking = interface.clocking
    if clocking is not None:
        lines += [f"clock {clocking.clock}"]
        lines += [f"set {pin} 1" for pin in (clocking.enable, clocking.valid_in) if pin]
        lines += [f"reset {clocking.reset} {int(not clocking.reset_low)}"] if clocking.reset else []
    return lines
