"""The table of pairs: their names, their judges, and the share of cases that they judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.pairs import hardware as netlists
from dais_verif.campaigns.fuzzing.pairs import hardware as proof
from dais_verif.campaigns.fuzzing.pairs import hardware as simulators
from dais_verif.campaigns.fuzzing.pairs import hardware as wrappers
from dais_verif.campaigns.fuzzing.pairs import programs as claims
from dais_verif.campaigns.fuzzing.pairs import programs as engines
from dais_verif.campaigns.fuzzing.pairs import programs as forms
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, Pair, found_by

__all__ = ["PAIRS", "USUAL", "PairSpec", "first_disagreement"]


class PairSpec(NamedTuple):
    """A pair.

    ``every``: the pair judges one in this many cases, since it takes longer than others. ``words``: what must agree.
    ``passing``: tells which of many cases agree, in one run; only the others are judged one by one. ``needs``: external
    tools; a pair that needs some only runs if users name it.
    """

    judge: Pair
    every: int
    words: str
    passing: Callable[[Sequence[Case]], list[bool]] | None = None
    needs: tuple[str, ...] = ()


PAIRS: dict[str, PairSpec] = {
    "numpy": PairSpec(engines.batch_engine, 1, "the numpy engine and the oracle"),
    "vm": PairSpec(engines.machine_engine, 2, "the virtual machine and the oracle"),
    "fast": PairSpec(engines.fast_engine, 1, "the C kernel, in every instruction set, and the oracle"),
    "text": PairSpec(forms.text_form, 1, "a program and its text, read back"),
    "layouts": PairSpec(forms.binary_layouts, 1, "a program and its binaries, read back"),
    "forms": PairSpec(forms.json_forms, 2, "a program and its conversions to ALIR and JSON"),
    "ranges": PairSpec(claims.ranges, 1, "intervals of values, and the values"),
    "coverage": PairSpec(claims.unreachable_bins, 2, "bins that are shown to be unreachable, and what vectors hit"),
    "prove": PairSpec(proof.proved_rtl, 4, "the emitted Verilog and the prover"),
    **{
        name: PairSpec(
            simulators.in_simulator(name),
            1,
            f"the emitted Verilog in {name.capitalize()}, and the golden model",
            partial(simulators.passing_in, name),
            (name,),
        )
        for name in ("icarus", "verilator")
    },
    "pipelines": PairSpec(simulators.pipelined, 4, "pipelines in Icarus, and the golden model", needs=("icarus",)),
    "netlist": PairSpec(
        netlists.mapped, 4, "the program, and its Yosys netlists in Icarus and in the prover", needs=("yosys", "icarus")
    ),
    "wrappers": PairSpec(
        wrappers.wrapped,
        4,
        "the emitted Verilog behind every wrapper, and the golden model",
        needs=("icarus", "verilator"),
    ),
}

#: Pairs that need no external tool.
USUAL = tuple(name for name, spec in PAIRS.items() if not spec.needs)


def first_disagreement(case: Case, names: tuple[str, ...] = USUAL) -> Disagreement | None:
    """Return the finding of the first of the pairs ``names`` that disagrees; None if all agree."""
    for name in names:
        found = found_by(name, PAIRS[name].judge, case)
        if found is not None:
            return found
    return None
