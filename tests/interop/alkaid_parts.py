"""ALIR programs reduced to the ops that alkaid must compute correctly."""

from __future__ import annotations

import random
from collections.abc import Iterator

from interop.alkaid_cases import CASES
from interop.cases import RIGHT
from interop.parts import doubles, unshared_inputs, with_muxes
from interop.peer import Job

from dais_verif.base.errors import InputError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_writers import alir_json
from dais_verif.spec.program.opcodes import Code

__all__ = ["clean", "part", "random_jobs", "reason"]

#: Outputs shifted by this many places or more are not compared, since a double may not hold them.
_FAR = 900
_DOUBLE_BITS = 53


def reason(peer: str, program: Program, op: Op) -> str | None:
    """Return the name of a case that may affect ``op`` in ``peer``, by the op's shape alone, or None."""
    for case in CASES:
        expected = case.of(peer)
        if expected is not RIGHT and expected.shape is not None and expected.shape(program, op):
            return case.name
    return None


def clean(peer: str, program: Program) -> list[bool]:
    """Return for every op whether no case can affect it or an op that it depends on."""
    found: list[bool] = []
    for op in program.ops:
        found.append(all(found[index] for index in op.operands) and reason(peer, program, op) is None)
    return found


def part(peer: str, program: Program) -> Program:
    """Return the ops of ``program`` that no case can affect in ``peer``; each that fits a double becomes an output."""
    kept = clean(peer, program)
    place = {index: number for number, index in enumerate(index for index, keep in enumerate(kept) if keep)}
    place[-1] = -1
    rows, terms = [], []
    for op in program.ops:
        if not kept[op.index]:
            continue
        moved = op.rewired(place.__getitem__)
        first = (len(terms), len(op.terms)) if op.code == Code.SUM else (moved.id0, moved.id1)
        terms += moved.terms
        rows.append((int(op.code), *first, moved.data, op.type))
    outputs = [(place[index], shift, int(neg)) for index, shift, neg in program.outputs if index in place]
    outputs += [(number, 0, 0) for number in range(len(rows))]
    exact = [one for one in outputs if abs(one[1]) < _FAR and (one[0] < 0 or rows[one[0]][4].width <= _DOUBLE_BITS)]
    tables = [table.tolist() for table in program.tables]
    return Program.build(rows, exact, inp_shift=program.inp_shift.tolist(), tables=tables, terms=terms)


def random_jobs(peer: str, seeds: range) -> Iterator[Job]:
    """Yield random programs that keep their promises, reduced for ``peer``, each with a few vectors."""
    for seed in seeds:
        rng = random.Random(seed)
        size, widest = rng.randint(4, 24), rng.choice((12, 30, 60))
        try:
            program = to_alir(random_program(rng, size, promise_keeping=True, widest=widest, alir=True))
            cut = part(peer, unshared_inputs(program) if peer == "alkaid-python" else program)
            if cut.n_ops:
                cut = part(peer, with_muxes(rng, cut, codes=(6,)))
            alir_json(to_alir(cut))
        except InputError:  # a type that JSON cannot express
            continue
        if cut.n_ops and cut.n_in and cut.n_out:
            yield Job(peer, cut, doubles(cut, random_rows(rng, cut)))
