"""The cost of a proof, counted in executed lines, grows linearly with the design, not quadratically."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.counting import growth, lines

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.ports.interface import DesignInterface, Dut, Wire, packed
from dais_verif.prover.bit_spans import Part, Spans
from dais_verif.prover.netlist import Driver, Signal
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.prover.terms import const
from dais_verif.spec.program import Program


def wide(n: int) -> Program:
    """Return a program of ``n`` inputs of eight bits and ``n`` outputs, each the sum of two distant inputs."""
    rows = [(-1, j, -1, 0, (1, 7, 0)) for j in range(n)]
    rows += [(0, j, (7 * j + 3) % n, 0, (1, 8, 0)) for j in range(n)]
    return Program.build(rows, [(n + j, 0, 0) for j in range(n)], inp_shift=[0] * n)


def apart(n: int) -> tuple[str, Dut]:
    """Return a module for ``wide(n)`` with a separate port for each element."""
    given = [f"input signed [7:0] x{j}" for j in range(n)]
    results = [f"output signed [8:0] y{j}" for j in range(n)]
    ports = ", ".join([*given, *results])
    body = "\n".join(f"assign y{j} = x{j} + x{(7 * j + 3) % n};" for j in range(n))
    interface = DesignInterface(
        tuple(Wire(f"x{j}", 8 * j, 8) for j in range(n)), tuple(Wire(f"y{j}", 9 * j, 9) for j in range(n))
    )
    whole = packed(wide(n))
    return f"module model ({ports});\n{body}\nendmodule\n", Dut(interface, whole.ports, whole.output_types)


@pytest.mark.parametrize("ports", ["packed", "apart"])
def test_a_proof_of_many_inputs_and_outputs_is_linear(tmp_path: Path, ports: str) -> None:
    def proving(n: int) -> Callable[[], object]:
        program = wide(n)
        text, dut = (emit_verilog(program), packed(program)) if ports == "packed" else apart(n)
        path = tmp_path / f"{n}.v"
        path.write_text(text)

        def work() -> None:
            proof = prove(program, elaborate([path], "model"), dut, ProofOptions(jobs=1))
            assert proof.verdict is Verdict.PASS and len(proof.outputs) == n

        return work

    assert growth(proving, 60, 240) < 1.2


def test_spans_look_at_what_lies_there_only() -> None:
    spans = Spans((10 * n, 10, n) for n in range(1000))
    assert list(spans.within(5007, 5)) == [Part(5007, 5010, 7, 500), Part(5010, 5012, 0, 501)]
    assert lines(lambda: list(spans.within(9990, 10))) < 10
    assert list(Spans([(4, 0, "none"), (8, 2, "b"), (0, 3, "a")]).within(2, 7)) == [
        Part(2, 3, 2, "a"),
        Part(8, 9, 0, "b"),
    ]
    assert list(Spans[str]([]).within(0, 5)) == []


def test_drivers_of_a_part_are_found_without_the_others() -> None:
    signal = Signal("s", 4000, "")
    for n in range(1000):
        if n != 500:
            signal.drive(Driver(4 * n, 4, lambda read: const(4, 0), ""))
    assert [driver.low for driver in signal.driving(1998, 8)] == [1996, 2004]
    assert not list(signal.driving(2001, 2))
    assert lines(lambda: list(signal.driving(3996, 4))) < 25


def test_ops_of_one_shape_are_given_a_meaning_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def counted(*given: object) -> object:
        asked.append(given)
        return interpret_op(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("dais_verif.prover.obligations.interpret_op", counted)
    program = wide(100)
    path = tmp_path / "model.v"
    path.write_text(emit_verilog(program))
    proof = prove(program, elaborate([path], "model"), packed(program), ProofOptions(jobs=1))
    assert proof.verdict is Verdict.PASS
    # One per input, and one for the sums: 7 * j + 3 never equals j modulo 100 here.
    assert len(asked) == 101
