"""The memory form computes what its instance does, for any range of members, in the stated time; faults are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kernel_frames import Range, driven, random_inputs, read_back, whole, words
from support.kernel_instances import instance, instances
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, KernelError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.constants import constant_tensor
from dais_verif.compile.kernels.forms.frame import memory_frame
from dais_verif.compile.kernels.forms.memory import MemoryFacts, MemoryForm, memory_form
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import Addressing
from dais_verif.compile.kernels.shipped.conv2d import STRUCTURE
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden.members import run_instance
from dais_verif.spec.machine import Connection, Machine
from dais_verif.spec.program import FixedType

INSTANCES = instances()
#: Members side by side: also along other dimensions of the index space, and with inputs read by a whole group.
SIDE_BY_SIDE = [("mul", 3), ("conv2d", 2), ("conv2d", 4), ("dense", 2), ("concat", 2), ("min_pool", 3)]
S5 = FixedType(1, 2, 2)


def results(one: KernelInstance, form: MemoryForm, xs: Sequence[Any], ranges: Sequence[Range]) -> list[Any]:
    given, at = driven(one, form.machine, xs, ranges, form.facts.latency)
    return read_back(one, dais_verif.run_machine(form.machine, given).outputs, at)


def equal(got: Sequence[Any], want: Sequence[Any]) -> bool:
    return all((a == b.reshape(len(b), -1)).all() for a, b in zip(got, want, strict=True))


@pytest.mark.parametrize(("name", "parallel"), [*((name, 1) for name in INSTANCES), *SIDE_BY_SIDE])
def test_it_computes_its_instance(name: str, parallel: int) -> None:
    one = INSTANCES[name]
    xs = random_inputs(one, 5, 1)
    assert equal(results(one, memory_form(one, parallel), xs, whole(one)), run_instance(one, xs))


@pytest.mark.parametrize(("name", "parallel"), [("mul", 1), ("conv2d", 1), ("max_pool", 2)])
def test_it_is_done_when_it_says(name: str, parallel: int) -> None:
    """``done`` is set in the stated cycle and in no other."""
    one = INSTANCES[name]
    form = memory_form(one, parallel)
    given, _ = driven(one, form.machine, random_inputs(one, 1, 2), whole(one), form.facts.latency)
    found = dais_verif.run_machine(form.machine, given).outputs
    start = words(one.mapping.inputs)
    assert np.flatnonzero(found["done"][0, :, 0]).tolist() == [start + form.facts.latency]
    assert found["busy"].sum() == form.facts.latency - 1


def test_the_interval_is_what_the_ports_of_memories_need() -> None:
    """Each of 12 members of ``conv2d`` reads 30 elements and writes 2.

    A member of ``mul`` writes one, so that several members at a time are not faster.
    """
    conv, mul = ([memory_form(INSTANCES[name], n).facts for n in (1, 2, 3)] for name in ("conv2d", "mul"))
    assert [facts.cycles for facts in conv] == [30, 30, 30]
    assert [facts.latency for facts in conv] == [groups * 30 + 2 + 2 * n + 1 for groups, n in ((12, 1), (8, 2), (4, 3))]
    assert [facts.cycles for facts in mul] == [1, 2, 3]


@pytest.mark.parametrize(("seed", "parallel"), [(1, 1), (2, 2), (3, 3)])
def test_the_result_does_not_depend_on_how_members_are_cut_into_ranges(seed: int, parallel: int) -> None:
    """Results are the same however members are cut into ranges: at random, in any order, empty or out of bounds."""
    one = INSTANCES["conv2d"]
    rng, (nx, *rest) = np.random.default_rng(seed), one.mapping.geometry
    form = memory_form(one, parallel)
    cuts = sorted({0, nx, *rng.integers(0, nx + 1, size=2).tolist()})
    ranges: list[Range] = [((a, *(0 for _ in rest)), (b, *rest)) for a, b in pairwise(cuts)] + [
        ((nx - 1, *(0 for _ in rest)), (0, *rest)),
        ((0,) * (1 + len(rest)), (nx, *(0 for _ in rest))),
    ]
    last = len(cuts) - 2
    ranges[last] = (ranges[last][0], tuple((1 << size.bit_length()) - 1 for size in one.mapping.geometry))
    order = rng.permutation(len(ranges)).tolist()
    xs = random_inputs(one, 2, seed)
    assert equal(results(one, form, xs, [ranges[n] for n in order]), run_instance(one, xs))


@pytest.mark.parametrize("parallel", [1, 2, 3])
def test_members_that_are_not_asked_for_are_not_written(parallel: int) -> None:
    """Only the two requested members of six are written, even if they share a group with others."""
    one = INSTANCES["mul"]
    xs = [np.full((1, 3, 2), 4), np.full((1, 3, 2), 4)]
    (got,) = results(one, memory_form(one, parallel), xs, [((0, 1), (2, 2))])
    assert (got.reshape(3, 2) != 0).tolist() == [[False, False], [True, True], [False, False]]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mul", "conv2d"])
def test_its_rtl_is_simulated_and_proved(name: str) -> None:
    """All cycles are compared, with random inputs; ``conv2d`` has pads, strides and weights."""
    machine = memory_form(INSTANCES[name]).machine
    assert dais_verif.simulate(machine, simulators="icarus", vectors=300).verdict is Verdict.PASS
    assert dais_verif.prove(machine).verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parallel"), [("conv2d", 3), ("mul", 2), ("concat", 2)])
def test_the_rtl_of_members_side_by_side_is_proved(name: str, parallel: int) -> None:
    assert dais_verif.prove(memory_form(INSTANCES[name], parallel).machine).verdict is Verdict.PASS


def moved(one: KernelInstance, dim: int) -> KernelInstance:
    """Return the instance with every read moved by one in ``dim``, as if ``start_b`` and ``end_b`` were off by one."""
    (tensor,), mapping = one.mapping.inputs, one.mapping
    was = mapping.addressing(tensor)
    offsets = tuple(tuple(at + (d == dim) for d, at in enumerate(row)) for row in was.offsets)
    return replace(one, mapping=replace(mapping, inputs=(replace(tensor, addressing=Addressing(was.slopes, offsets)),)))


def end_off_by_one(one: KernelInstance) -> KernelInstance:
    """Return the instance with the last element of each window replaced by the next one."""
    (tensor,), mapping = one.mapping.inputs, one.mapping
    was = mapping.addressing(tensor)
    end = max(row[0] for row in was.offsets)
    offsets = tuple((row[0] + (row[0] == end), *row[1:]) for row in was.offsets)
    return replace(one, mapping=replace(mapping, inputs=(replace(tensor, addressing=Addressing(was.slopes, offsets)),)))


def swapped(one: KernelInstance) -> KernelInstance:
    """Return the instance with the coordinates of outputs in the first two dimensions exchanged."""
    (tensor,), mapping = one.mapping.outputs, one.mapping
    was = mapping.addressing(tensor)
    slopes = (was.slopes[1], was.slopes[0], *was.slopes[2:])
    return replace(
        one, mapping=replace(mapping, outputs=(replace(tensor, addressing=Addressing(slopes, was.offsets)),))
    )


MAPPING_FAULTS = {
    "end off by one": end_off_by_one,
    "window moved": lambda one: moved(one, 1),
    "pad": lambda one: replace(one, pads=(one.pads[0] + 1,)),
    "swapped index": swapped,
}


@pytest.mark.parametrize("fault", MAPPING_FAULTS)
def test_a_wrong_mapping_shows(fault: str) -> None:
    one = INSTANCES["conv2d"]
    wrong = MAPPING_FAULTS[fault](one)
    xs = random_inputs(one, 5, 1)
    assert not equal(results(one, memory_form(wrong), xs, whole(one)), run_instance(one, xs))


def without_enable(machine: Machine, target: str) -> Machine:
    """Return the machine with additional writes: into ``target`` in every cycle."""
    return replace(
        machine,
        connections=tuple(
            Connection(c.source, c.target) if c.target.signal == target and c.target.index else c
            for c in machine.connections
        ),
    )


def tiny() -> KernelInstance:
    """Return a convolution of 2 x 3 pixels with pads, to two channels."""
    weights = constant_tensor(S5, [[[[3, -2], [5, 7]]], [[[1, 4], [-3, 2]]]])
    given = STRUCTURE.pack(
        {**dict.fromkeys(("pad_w", "stride_w", "stride_h", "dilation_w", "dilation_h", "groups"), 1)}
    )
    return instance("conv2d", [Tensor.of(S5, 3, 2, 1), weights], (4, 1, 2), given)


TINY = tiny()


def folded_is_unfolded(machine: Machine, facts: MemoryFacts, tmp_path: Path) -> Verdict:
    (tmp_path / "frame.toml").write_text(memory_frame(TINY, facts))
    return dais_verif.diff(machine, unfold(TINY), frame=tmp_path / "frame.toml", prove=True).verdict


def test_it_equals_its_unfolded_program_for_ever(tmp_path: Path) -> None:
    """Every frame is equal, for all inputs and whatever other ranges ran before."""
    for parallel in (1, 3):
        assert folded_is_unfolded(*memory_form(TINY, parallel), tmp_path) is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "parallel"), [(7, 5, 1), (7, 5, 4), (16, 16, 1), (16, 16, 4)])
def test_images_of_any_size_equal_their_unfolded_programs(
    width: int, height: int, parallel: int, tmp_path: Path
) -> None:
    """A convolution from 3 to 4 channels is proved to equal its unfolded program for images of several sizes.

    The width of an image is, or is not, a multiple of the number of members side by side.
    """
    weights = constant_tensor(S5, np.random.default_rng(5).integers(-16, 16, size=(4, 3, 3, 3)))
    words = [f"{word}_{d}" for word in ("pad", "stride", "dilation") for d in ("w", "h")]
    given = STRUCTURE.pack({**dict.fromkeys(words, 1), "groups": 1})
    one = instance("conv2d", [Tensor.of(S5, width, height, 3), weights], (width, height, 4), given)
    machine, facts = memory_form(one, parallel)
    (tmp_path / "frame.toml").write_text(memory_frame(one, facts))
    record = dais_verif.diff(machine, unfold(one), frame=tmp_path / "frame.toml", prove=True)
    assert record.verdict is Verdict.PASS, record.message


@pytest.mark.parametrize("fault", [*MAPPING_FAULTS, "write"])
def test_a_fault_is_no_unfolded_program(fault: str, tmp_path: Path) -> None:
    right, facts = memory_form(TINY)
    wrong = without_enable(right, "out0") if fault == "write" else memory_form(MAPPING_FAULTS[fault](TINY)).machine
    assert folded_is_unfolded(wrong, facts, tmp_path) is Verdict.PROGRAMS_DIFFER


def test_so_many_side_by_side_are_refused_that_no_dimension_has() -> None:
    for parallel in (0, 5):
        with raises(InputError):
            memory_form(INSTANCES["conv2d"], parallel)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="131072 words"):
        memory_form(instance("relu", [Tensor.of(S5, 1 << 17)], (1 << 17,)))
    (x,), mapping = (one := instance("relu", [Tensor.of(S5, 3)], (3,))).mapping.inputs, one.mapping
    many = replace(x, addressing=Addressing(((1,),), ((0,),) * 5000))
    for tensor, said in ((replace(x, sizes=(0,)), "1 to 65536"), (many, "touches 5000 elements")):
        with pytest.raises(KernelError, match=said):
            memory_form(replace(one, mapping=replace(mapping, inputs=(tensor,))))
