"""An instance unfolded into one program computes what its members do, including pads, muxes, tables and sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.kernel_instances import OUT, S5, instances
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile.kernels import unfold as unfolding
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.mapping import MappedTensor, Mapping
from dais_verif.compile.kernels.rules import access, block, point, steps
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden import run_raw
from dais_verif.golden.members import run_instance
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.numbers import Batch, Column


def evaluated(program: Program, inputs: Sequence[np.ndarray], kinds: Sequence[FixedType]) -> np.ndarray:  # type: ignore[type-arg]
    """Return the outputs of an unfolded instance, (samples, n_out), in units of OUT."""
    columns = [
        Column(flat, -kind.f) for x, kind in zip(inputs, kinds, strict=True) for flat in x.reshape(len(x), -1).T.copy()
    ]
    raw = run_raw(program, Batch(len(inputs[0]), tuple(columns)))
    return np.stack([one << (OUT.f - kind.f) for one, kind in zip(raw, program.output_types, strict=True)], axis=-1)


@pytest.mark.parametrize("name", instances())
@pytest.mark.parametrize("alir", [False, True], ids=["dais", "alir"])
def test_it_computes_what_the_members_compute(name: str, alir: bool) -> None:
    folded = instances()[name]
    if alir:
        folded = replace(folded, block=to_alir(folded.block))
    rng = np.random.default_rng(22)
    shapes = [tensor.sizes[::-1] for tensor in folded.mapping.inputs]
    inputs = [rng.integers(-16, 16, size=(40, *shape)) for shape in shapes]
    (expected,) = run_instance(folded, inputs)
    program = unfold(folded)
    assert program.n_in == sum(x[0].size for x in inputs) and program.n_out == expected[0].size
    assert (evaluated(program, inputs, folded.input_types) == expected.reshape(40, -1)).all()


class TestOdd:
    def doubled(self, shift: int = 0) -> KernelInstance:
        """Return an instance of 5 members over 5 elements that also read their right neighbour, the last one a pad."""
        ops = [(-1, 0, -1, 0, S5), (-1, 1, -1, 0, S5), (1, 0, 1, 0, (1, 3, 2))]
        program = Program.build(ops, [(2, 0, 1)], inp_shift=[0, shift])
        x = MappedTensor("x", (5,), access(steps(0, 1, 0, 1)))
        y = MappedTensor("y", (5,), access(block(0, 1)))
        return KernelInstance("pairs", program, Mapping((5,), (x,), (y,)), (S5,), (OUT,), (-7,))

    def test_pads_negation_and_what_is_never_written(self) -> None:
        folded = self.doubled()
        x = np.arange(-5, 5).reshape(2, 5)
        (expected,) = run_instance(folded, [x])
        assert (evaluated(unfold(folded), [x], (S5,)) == expected).all()
        y = MappedTensor("y", (7,), access(point(0)))
        longer = replace(folded, mapping=replace(folded.mapping, outputs=(y,)))
        found = evaluated(unfold(longer), [x], (S5,))
        assert (found == np.pad(expected, [(0, 0), (0, 2)])).all()

    def test_shifts_of_ports_must_agree(self) -> None:
        with raises(InputError):
            unfold(self.doubled(shift=1))

    def test_too_many_ops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(unfolding, "MOST_OPS", 14)
        with raises(InputError):
            unfold(self.doubled())
