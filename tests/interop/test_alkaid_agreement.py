"""Where no case of ``interop.alkaid_cases`` applies, each of our engines agrees bit for bit with alkaid's executors.

They are compared on real models and on random programs that keep their promises, where all equal the oracle, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from interop.alkaid_cases import CASES
from interop.alkaid_parts import clean, random_jobs
from interop.cases import RIGHT
from interop.parts import engines_for
from interop.peer import ALIR_PEERS, Answer, Job, answers
from support.places import ALIR

from dais_verif.golden import oracle, run
from dais_verif.spec.program import load
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.listing import listing
from dais_verif.spec.program.opcodes import Code

by_peer = pytest.mark.parametrize("peer", ALIR_PEERS)

#: The opcodes of ALIR programs.
CODES = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, Code.SUM, Code.SHIFT)


def assert_agree(jobs: Sequence[Job]) -> Counter[int]:
    """Assert that engines, oracle and peer agree; return how often each opcode was among the compared ops."""
    compared: Counter[int] = Counter()
    for job, answer in zip(jobs, answers(jobs), strict=True):
        assert_equal(job, answer)
        compared.update(op.code for op in job.program.ops)
    return compared


def assert_equal(job: Job, answer: Answer) -> None:
    if not isinstance(answer, np.ndarray):
        pytest.fail(f"{job.peer}: {answer}\n{listing(job.program)}")
    exact = [oracle.evaluate(job.program, list(map(Fraction, row))) for row in job.rows]
    expected = np.array([list(map(float, row)) for row in exact]).reshape(len(exact), job.program.n_out)
    found = {engine: run(job.program, job.matrix, engine=engine) for engine in engines_for(job.program)}
    for name, values in (*found.items(), (job.peer, answer)):
        if not np.array_equal(values, expected):
            row, j = np.argwhere(values != expected)[0].tolist()
            pytest.fail(
                f"row {row} {list(job.rows[row])}, output {j}: {name} gives {values[row, j]}, exact is "
                f"{expected[row, j]}\n{listing(job.program)}"
            )


@pytest.mark.parametrize(
    "peer", [pytest.param(peer, marks=pytest.mark.slow if number else ()) for number, peer in enumerate(ALIR_PEERS)]
)
def test_random_programs(peer: str, alkaid: None) -> None:
    compared = assert_agree(list(random_jobs(peer, range(150))))
    assert {code for code in CODES if compared[code] < 8} == set(), compared


@by_peer
def test_a_difference_is_found(peer: str, alkaid: None) -> None:
    """The comparison fails for every witness on which the peer is wrong."""
    jobs = [Job(peer, c.program, [c.inputs]) for c in CASES if c.of(peer) is not RIGHT and c.breaks is None]
    for job, answer in zip(jobs, answers(jobs), strict=True):
        with pytest.raises(pytest.fail.Exception, match=peer):
            assert_equal(job, answer)


@pytest.mark.slow
@by_peer
@pytest.mark.parametrize("chunk", range(10))
def test_10_000_random_programs(peer: str, chunk: int, alkaid: None) -> None:
    assert_agree(list(random_jobs(peer, range(1000 + chunk * 1000, 2000 + chunk * 1000))))


#: A hand-made model that has cases on purpose.
HAND_MADE = "a10_ports_consts"
MODELS = sorted([*ALIR.glob("a*/alir.json*"), *ALIR.glob("legacy/*.json.gz")])


@by_peer
def test_real_models(peer: str, alkaid: None) -> None:
    """The models, including legacy files, agree after we have read, converted and written them."""
    jobs, expected = [], []
    for path in MODELS:
        stem = path.name[:3] if path.parent.name == "legacy" else ""
        program = to_alir(load(path))
        rows = 200 if peer == "alkaid-cpp" else 4
        inputs = np.load(path.parent / f"{stem}inputs.npy").reshape(-1, program.n_in)[:rows].astype(np.float64)
        if path.parent.name == HAND_MADE:
            assert not all(clean(peer, program))
            continue
        jobs.append(Job(peer, program, inputs.tolist()))
        expected.append(np.load(path.parent / f"{stem}expected.npy").reshape(-1, program.n_out)[:rows])
    for job, answer, right in zip(jobs, answers(jobs), expected, strict=True):
        assert isinstance(answer, np.ndarray), answer
        kept = clean(peer, job.program)
        columns = [j for j, index in enumerate(job.program.out_idx.tolist()) if index < 0 or kept[index]]
        assert len(columns) > 0.7 * job.program.n_out and (peer == "alkaid-python" or all(kept))
        assert np.array_equal(answer[:, columns], right[:, columns]), job.program
