"""Variants of a proved netlist pass only if they are equal on all inputs; otherwise a vector shows the difference."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from support.arithmetic_circuits import verilog
from support.random_graphs import table

from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.sites import all_mutants, drawn
from dais_verif.hardware.ports.interface import packed
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.bit_blasting import Word
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.variants import ProvedNetlist, proved_netlist
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.spec.program import Program, assemble
from dais_verif.verbs.mutation.proofs import Prover, Question, ToProve

SUMS = assemble("""
    input x, y
    a = s4.0 input x
    b = s4.0 input y
    product = s8.0 a * b
    sum = s9.0 product + a
    output sum = sum
""")
#: A sum that does not always fit, although the program promises that it does.
PROMISED = assemble("input x, y\na = u3.0 input x\nb = u3.0 input y\nsum = u3.0 a + b\noutput sum = sum\n")


def circuit(program: Program) -> tuple[Aig, Word, Word, int]:
    """Return a graph of the program, its inputs, its output, and whether it keeps its promises."""
    graph = Aig()
    boundary = Boundary.of_program(program)
    bits = ProgramBits.of(program, boundary, Assumptions(program, boundary.inputs, False), graph, {})
    return graph, [bit for word in bits.inputs for bit in word], bits.outputs[0], graph.all(bits.kept)


def proved(program: Program, folder: Path, *, check: bool = True) -> ProvedNetlist:
    graph, given, found, _ = circuit(program)
    options = ProofOptions(timeout=5.0, jobs=1, sample=0, bits=True, check=check)
    (folder / "model.v").write_text(verilog(graph, "model", given, found))
    base = proved_netlist(program, elaborate([folder / "model.v"], "model"), packed(program), options)
    assert base is not None
    return base


def changed(graph: Aig, literals: Word, rng: random.Random) -> tuple[Aig, Word]:
    """Return a copy in which one operand of one gate is another literal."""
    copy, at = Aig(), [0]
    victim = rng.choice([node for node in range(1, len(graph)) if graph.low[node] >= 0])
    for node in range(1, len(graph)):
        if graph.low[node] < 0:
            at.append(copy.input())
            continue
        low, high = (at[x >> 1] ^ x & 1 for x in (graph.low[node], graph.high[node]))
        if node == victim:
            low = rng.choice((low ^ 1, at[rng.randrange(node)] ^ rng.getrandbits(1), 0, 1))
        at.append(copy.both(low, high))
    return copy, [at[x >> 1] ^ x & 1 for x in literals]


def test_what_is_said_of_a_variant_is_so_on_all_inputs(tmp_path: Path) -> None:
    base = proved(SUMS, tmp_path)
    graph, given, right, _ = circuit(SUMS)
    tables = [table(graph, bit) for bit in right]
    rng, verdicts = random.Random(1), Counter[Verdict]()
    for _ in range(40):
        copy, found = changed(graph, right, rng)
        (tmp_path / "variant.v").write_text(verilog(copy, "model", given, found))
        answer = base.of(elaborate([tmp_path / "variant.v"], "model"), 5.0)
        assert answer is not None, "all of these are decided"
        wrong = 0
        for bit, before in zip(found, tables, strict=True):
            wrong |= table(copy, bit) ^ before
        verdicts[answer.verdict] += 1
        if answer.verdict is Verdict.PASS:
            assert not wrong
        else:
            x, y = answer.vector or (-1, -1)
            assert wrong >> (x | y << 4) & 1, "the vector shows nothing"
    assert verdicts[Verdict.PASS] >= 2 and verdicts[Verdict.RTL_MISMATCH] >= 20


def other_where_it_is_broken(tmp_path: Path) -> Path:
    """Write the same netlist with another value of an output bit wherever the program breaks its promise."""
    graph, given, found, kept = circuit(PROMISED)
    path = tmp_path / "other.v"
    path.write_text(verilog(graph, "model", given, [graph.differ(found[0], kept ^ 1), *found[1:]]))
    return path


def test_an_input_on_which_a_promise_is_broken_is_no_counterexample(tmp_path: Path) -> None:
    other = elaborate([other_where_it_is_broken(tmp_path)], "model")
    assert proved(PROMISED, tmp_path).of(other, 5.0) is None, "a whole proof takes the promise for granted"
    answer = proved(PROMISED, tmp_path, check=False).of(other, 5.0)
    assert answer is not None and answer.verdict is Verdict.RTL_MISMATCH


def test_bits_without_a_driver_are_for_a_whole_proof(tmp_path: Path) -> None:
    graph, given, found, _ = circuit(SUMS)
    text = verilog(graph, "model", given, found).replace(
        "assign model_out[2]", "wire open; assign model_out[2] = open ^"
    )
    (tmp_path / "open.v").write_text(text.replace("^ =", "^"))
    base = proved(SUMS, tmp_path)
    assert base.of(elaborate([tmp_path / "open.v"], "model"), 5.0) is None
    (tmp_path / "wrong.v").write_text(verilog(graph, "model", given, [found[0] ^ 1, *found[1:]]))
    answer = base.of(elaborate([tmp_path / "wrong.v"], "model"), 5.0)
    assert answer is not None and answer.verdict is Verdict.RTL_MISMATCH, "the next one is compared as ever"


def test_what_differs_from_no_proved_netlist_is_none(tmp_path: Path) -> None:
    graph, given, found, _ = circuit(SUMS)
    (tmp_path / "wrong.v").write_text(verilog(graph, "model", given, [found[0] ^ 1, *found[1:]]))
    options = ProofOptions(timeout=5.0, jobs=1, sample=0, bits=True)
    assert proved_netlist(SUMS, elaborate([tmp_path / "wrong.v"], "model"), packed(SUMS), options) is None


def test_mutants_of_netlists_have_the_verdicts_of_whole_proofs(tmp_path: Path) -> None:
    graph, given, found, _ = circuit(SUMS)
    files = {"model.v": verilog(graph, "model", given, found)}
    question = Question(SUMS, files, "model", packed(SUMS), (), True, True, 0)
    prover, whole = Prover(question, tmp_path), Prover(question, tmp_path)
    assert isinstance(prover._base, ProvedNetlist)
    whole.__dict__["_base"] = None
    verdicts = Counter[Verdict | None]()
    for number, mutant in enumerate(drawn(all_mutants(files), 20, 2), start=1):
        asked = ToProve(number, mutant, 5.0)
        verdict = prover.answer(asked).verdict
        assert verdict == whole.answer(asked).verdict, mutant
        verdicts[verdict] += 1
        quick = prover.answer(asked._replace(quick=True)).verdict
        assert quick is (Verdict.UNKNOWN if verdict is Verdict.RTL_MISMATCH else verdict)
    assert verdicts[Verdict.RTL_MISMATCH] > 10
