"""The RTL of every shipped kernel, loaded, run and read in both simulators, gives the results of its members."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.kernel_frames import driven, read_back, whole

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_kernels import SHIPPED, asked
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.golden.members import run_instance


def passes(name: str, seed: int, folder: Path, simulators: list[str]) -> None:
    """Check that the machine equals the members, and its RTL the machine, for whole tensors in two sequences."""
    one = asked(name, seed).instance
    form = memory_form(one)
    xs = asked(name, seed).samples
    given, at = driven(one, form.machine, xs, whole(one), form.facts.latency)
    outputs = dais_verif.run_machine(form.machine, given).outputs
    got, want = read_back(one, outputs, at), run_instance(one, xs)
    assert all((a == b.reshape(len(b), -1)).all() for a, b in zip(got, want, strict=True))
    np.savez(folder / "x.npz", **given)
    found = dais_verif.simulate(form.machine, inputs=folder / "x.npz", vectors=100, simulators=simulators)
    assert found.verdict is Verdict.PASS, found.message


@pytest.mark.parametrize("name", ["softmax"])
def test_rtl_is_what_members_give(name: str, tmp_path: Path) -> None:
    passes(name, 0, tmp_path, ["icarus"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", SHIPPED)
def test_rtl_is_what_members_give_in_both_simulators(name: str, seed: int, tmp_path: Path) -> None:
    passes(name, seed, tmp_path, ["icarus", "verilator"])
