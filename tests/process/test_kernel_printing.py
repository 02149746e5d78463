"""RTL prints what the golden model prints, in both forms and simulators; other texts and unknown bits are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.kernel_instances import S5, instance, instances
from support.said import raises

import dais_verif
import dais_verif.verbs.kernels.printing as printing
from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.folder import read_folder
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.printing import memory_run, stream_run, texts_of
from dais_verif.compile.kernels.forms.raster import members_by_beat, raster_of
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.printf import PrintfTap
from dais_verif.compile.kernels.program_kernel import read_own_kernel
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.golden.machine_batch import run_machine
from dais_verif.golden.members import print_instance
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.kernel_printout import KernelPrintout
from dais_verif.verbs.kernels.printing import print_members
from dais_verif.verbs.kernels.source import KernelSource
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.simulate import compared, drives_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "kernels" / "print_test.toml"
TAPS = (PrintfTap("out %f, ", output=0), PrintfTap("first %hhd\n", op=0, raw=True))
INSTANCES = {name: replace(one, taps=TAPS) for name, one in instances().items()}


def tensors_of(one: KernelInstance, samples: int = 2) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    rng = np.random.default_rng(9)
    return [
        rng.integers(kind.raw_min, kind.raw_max + 1, size=(samples, *tensor.sizes[::-1]))
        for tensor, kind in zip(one.mapping.inputs, one.input_types, strict=True)
    ]


def of_machine(one: KernelInstance, form: str) -> list[list[str]]:
    """Return the texts that the golden model of the machine prints."""
    xs = tensors_of(one)
    if form == "memory":
        memory = memory_form(one, printf=True)
        machine, run = memory.machine, memory_run(one, memory.facts.latency, memory.machine, xs)
    else:
        stream = stream_form(one, printf=True)
        machine, run = stream.machine, stream_run(one, stream.flush, stream.machine, xs)
    types = {signal.name: signal.types for signal in (*machine.inputs, *machine.outputs)}
    units = {name: 2.0 ** np.array([kind.f for kind in kinds]) for name, kinds in types.items()}
    found = run_machine(machine, {name: (rows / units[name])[None] for name, rows in run.inputs.items()}).outputs
    rows = (found["tap"] * units["tap"])[found["tap_valid"][..., 0] == 1]
    return texts_of(one, run, [[int(value) for value in row] for row in rows])


class TestForms:
    @pytest.mark.parametrize("name", ["mul", "conv2d", "concat"])
    def test_the_memory_form(self, name: str) -> None:
        one = INSTANCES[name]
        assert of_machine(one, "memory") == print_instance(one, tensors_of(one)).texts

    @pytest.mark.parametrize("name", ["mul", "tanh", "conv2d", "max_pool", "dense"])
    def test_the_stream_form_by_members(self, name: str) -> None:
        """Texts are in the order of members, also if a beat has several members or if nothing is scanned."""
        one = INSTANCES[name]
        assert of_machine(one, "stream") == print_instance(one, tensors_of(one)).texts

    def test_what_nobody_asks_for_costs_nothing(self) -> None:
        plain = replace(INSTANCES["conv2d"], taps=())
        rtl = [emit_machine(stream_form(one).machine, "m") for one in (plain, INSTANCES["conv2d"])]
        assert rtl[0] == rtl[1] != emit_machine(stream_form(INSTANCES["conv2d"], printf=True).machine, "m")

    def test_members_of_a_beat_stand_beside_each_other(self) -> None:
        """A pool over two channels has two members per beat: number 12 is the first of the second channel."""
        one = INSTANCES["max_pool"]
        assert members_by_beat(one, raster_of(one))[:2].tolist() == [[0, 12], [1, 13]]


class TestPrintout:
    def test_the_golden_model_alone(self) -> None:
        one = INSTANCES["tanh"]
        found = print_members(one, tensors_of(one))
        assert (found.verdict, found.messages, found.simulators) == (Verdict.PASS, 8, [])
        assert KernelPrintout.from_json(found.to_json()) == found
        assert found.texts[1].count("\n") == 4

    @pytest.mark.parametrize("name", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
    def test_the_example_of_the_document(self, name: str, tmp_path: Path) -> None:
        found = print_members(read_own_kernel(EXAMPLE), [], simulators=[name], folder=tmp_path)
        assert found.verdict is Verdict.PASS and found.texts[0].startswith("Test string!\nchar value is -1\n")
        assert found.message == f"1 member prints the same in {name}" and found.simulators[0].version

    @pytest.mark.slow
    @pytest.mark.parametrize(("name", "form"), [("conv2d", "memory"), ("max_pool", "stream"), ("concat", "memory")])
    def test_both_simulators(self, name: str, form: str, tmp_path: Path) -> None:
        one = INSTANCES[name]
        found = print_members(one, tensors_of(one), form=form, simulators=["icarus", "verilator"], folder=tmp_path)
        assert found.verdict is Verdict.PASS and found.messages == 2 * one.mapping.members

    @pytest.mark.slow
    def test_a_fault_is_told(self, tmp_path: Path) -> None:
        """RTL that prints other values is reported: it is that of a block that adds instead of multiplying."""
        one = INSTANCES["mul"]
        wrong = replace(instance("add", [Tensor.of(S5, 2, 3)] * 2, (2, 3)), taps=TAPS)
        rtl = tmp_path / "wrong.v"
        rtl.write_text(emit_machine(memory_form(wrong, printf=True).machine, "model"))
        xs = [np.full((1, 3, 2), 4), np.array([[[4, 3], [2, 2], [2, 2]]])]
        found = print_members(one, xs, simulators=["icarus"], folder=tmp_path, rtl=rtl)
        assert found.verdict is Verdict.RTL_MISMATCH
        said = "'out 2.000000, first 4\\n', must print 'out 1.000000, first 4\\n'"
        assert found.message == f"icarus: member [0, 0] of sample 0 prints {said}"
        assert found.simulators[0].texts is not None and found.simulators[0].texts[0].count("\n") == 6
        with raises(InputError, match=r"port.*design"):
            print_members(replace(one, taps=TAPS[1:]), xs, simulators=["icarus"], folder=tmp_path, rtl=rtl)


class TestDifferences:
    def test_who_prints_something_else(self) -> None:
        assert printing._difference((2,), [["a", "b"]], [["a", "b"]]) is None
        said = "member [1] of sample 1 prints 'x', must print 'd'"
        assert printing._difference((2,), [["a", "b"], ["c", "d"]], [["a", "b"], ["c", "x"]]) == said
        assert printing._difference((2,), [["a", "b"]], [["a"]]) == "1 member prints, must be 2"

    def test_unknown_bits_are_an_x(self) -> None:
        one = INSTANCES["tanh"]
        memory = memory_form(one, printf=True)
        run = memory_run(one, memory.facts.latency, memory.machine, tensors_of(one, 1))
        assert texts_of(one, run, [(None, 3)] * 4) == [["out x, first 3\n"] * 4]
        assert len(texts_of(one, run, [(1, 3)] * 5)[0]) == 5

    def test_nothing_to_print_is_refused(self) -> None:
        with raises(InputError):
            print_members(replace(INSTANCES["tanh"], taps=()), [])


def test_a_kernel_without_inputs_runs_in_few_sequences(tmp_path: Path) -> None:
    """Each sequence begins at power-up, in a simulator of its own: eight hundred of them took eight minutes."""
    dais_verif.build_kernel(EXAMPLE, output=tmp_path / "k")
    kernel = read_folder(tmp_path / "k")
    assert kernel is not None
    request = SimulationRequest(program=tmp_path / "k", vectors=3000)
    sequences, (made,) = drives_of(KernelSource(kernel), request, np.random.default_rng(0))
    assert made.vectors >= 3000 and len(sequences) <= 16
    run, _ = compared(KernelSource(kernel), kernel.machine, sequences)
    assert run.wrong is None and run.elements == run.samples > 100
