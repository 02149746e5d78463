"""Functions on programs without RTL: check, convert, compare, explain, cover, and rank effects of wrong bits."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dais_verif.base.packages import name_missing_packages
from dais_verif.subject.given import GivenProgram
from dais_verif.verbs.arguments import path_from, paths_from, program_from, required_path
from dais_verif.verbs.progress import Progress, listener

if TYPE_CHECKING:
    from dais_verif.golden import Engine
    from dais_verif.record.check import CheckRecord
    from dais_verif.record.conversion import ConversionRecord
    from dais_verif.record.coverage import CoverageRecord
    from dais_verif.record.diff import DiffRecord
    from dais_verif.record.explanation import CycleRecord
    from dais_verif.record.sensitivity import SensitivityRecord

__all__ = ["check", "convert", "cover", "diff", "explain_machine", "rank_sensitivity"]

_Path = str | PathLike[str]


@name_missing_packages
def check(
    program: GivenProgram,
    *,
    layout: str | None = None,
    proof: bool = True,
    everything: bool = False,
    timeout: float = 5.0,
    progress: Progress | None = None,
) -> CheckRecord:
    """Check a program: its structure, and whether an op can break its promise not to change values.

    ``program``: what ``load`` takes. ``proof``: let the prover decide ops that intervals
    leave open, at most 200 of them unless ``everything`` is set; ``timeout``: seconds per solver query. Raises
    ``ProgramError`` if there is no valid program.
    """
    from dais_verif.verbs.check import CheckRequest
    from dais_verif.verbs.check import check as flow

    request = CheckRequest(
        program=program_from(program), layout=layout, proof=proof, everything=everything, timeout=timeout
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def convert(
    program: GivenProgram,
    output: _Path,
    *,
    to: str | None = None,
    layout: str | None = None,
    progress: Progress | None = None,
) -> ConversionRecord:
    """Write a program to the file ``output`` in another form, with the same results for every input.

    ``to``: ``alir``, ``json`` (da4ml's), ``v1``, ``published``, ``headerless`` or ``dais``. None: by the suffix:
    ``.json`` or ``.alir`` for ALIR, ``.bin`` for a binary, ``.dais`` for text; all but text are compressed if ``.gz``
    follows. ``layout``: the layout of the program that is read. A machine is written as ``alirfsm`` (``.json``) or as
    text, ``mach`` (``.mach``). Raises ``InputError``, which names the op, if the target cannot express it.
    """
    from dais_verif.verbs.convert import ConversionRequest
    from dais_verif.verbs.convert import convert as flow

    request = ConversionRequest(
        program=program_from(program), output=required_path("output", output), to=to, layout=layout
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def diff(
    a: GivenProgram,
    b: GivenProgram,
    *,
    layout: str | None = None,
    layout_b: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    engine: Engine = "auto",
    unchecked: bool = False,
    prove: bool = False,
    timeout: float = 20.0,
    frame: _Path | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> DiffRecord:
    """Compare the outputs of two programs on vectors, and with ``prove`` for all inputs.

    ``inputs``: files of vectors, which come before ``vectors`` generated ones. ``output``: a file for a counterexample.
    ``frame``: a TOML file that states in which cycles the machine ``a`` computes the program ``b``. Raises
    ``InputError`` if the programs have different numbers of inputs or outputs.
    """
    from dais_verif.verbs.diff import DiffRequest
    from dais_verif.verbs.diff import diff as flow

    request = DiffRequest(
        a=program_from(a),
        b=program_from(b),
        layout=layout,
        layout_b=layout_b,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        engine=engine,
        unchecked=unchecked,
        prove=prove,
        timeout=timeout,
        frame=path_from("frame", frame),
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))


@name_missing_packages
def explain_machine(
    program: GivenProgram,
    *,
    cycle: int = 0,
    sequence: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    vectors: int = 1000,
    seed: int = 0,
    unchecked: bool = False,
    progress: Progress | None = None,
) -> CycleRecord:
    """Return the value of every signal of a machine in one cycle, the registers after the edge, and explanations.

    ``inputs``: files of sequences, ``.npz``, which come before sequences of ``vectors`` cycles generated from ``seed``,
    as in a simulation. ``unchecked``: broken promises do not affect the verdict. Raises ``InputError`` for a cycle that
    does not exist, ``RequestError`` for a program.
    """
    from dais_verif.verbs.explain import ExplanationRequest
    from dais_verif.verbs.explain import explain as flow

    request = ExplanationRequest(
        program=program_from(program),
        cycle=cycle,
        sequence=sequence,
        inputs=paths_from("inputs", inputs),
        vectors=vectors,
        seed=seed,
        unchecked=unchecked,
    )
    found = flow(request, progress=listener(progress)).cycle
    assert found is not None  # a program, which has no cycles, will be refused
    return found


@name_missing_packages
def cover(
    program: GivenProgram,
    *,
    layout: str | None = None,
    vectors: int = 1000,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    directed: bool = True,
    unreachable: bool = True,
    floor: float | None = None,
    timeout: float = 10.0,
    unchecked: bool = False,
    out_of_range: bool = False,
    jobs: int | None = None,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> CoverageRecord:
    """Measure functional coverage of a program, and search for vectors that hit open bins.

    ``floor``: the lowest accepted percentage of the bins that can be hit; below it the verdict is NOT_SIGNED_OFF.
    ``timeout``: seconds for the solver in total. ``output``: a folder for the bins and the directed vectors.
    """
    from dais_verif.verbs.cover import CoverageRequest
    from dais_verif.verbs.cover import cover as flow

    request = CoverageRequest(
        program=program_from(program),
        layout=layout,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        directed=directed,
        unreachable=unreachable,
        floor=floor,
        timeout=timeout,
        unchecked=unchecked,
        out_of_range=out_of_range,
        jobs=jobs,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress)).record


@name_missing_packages
def rank_sensitivity(
    program: GivenProgram,
    *,
    layout: str | None = None,
    bits: bool = False,
    vectors: int = 64,
    seed: int = 0,
    inputs: Sequence[_Path] | _Path | None = None,
    unchecked: bool = False,
    timeout: float = 120.0,
    output: _Path | None = None,
    progress: Progress | None = None,
) -> SensitivityRecord:
    """Flip bits of the values in a program, one at a time, and rank the ops by their effect on the outputs.

    ``bits``: flip every bit of every op, not only the last one. ``timeout``: seconds after which no more flips are
    started. ``output``: a file for all effects: JSON if its suffix is ``.json``, else CSV.
    """
    from dais_verif.verbs.rank_sensitivity import SensitivityRequest
    from dais_verif.verbs.rank_sensitivity import rank_sensitivity as flow

    request = SensitivityRequest(
        program=program_from(program),
        layout=layout,
        bits=bits,
        vectors=vectors,
        seed=seed,
        inputs=paths_from("inputs", inputs),
        unchecked=unchecked,
        timeout=timeout,
        output=path_from("output", output),
    )
    return flow(request, progress=listener(progress))
