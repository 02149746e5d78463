"""Where no case of ``interop.cases`` applies, each of our engines agrees bit for bit with da4ml's executors.

They are compared on real programs, the rows of the conformance table, and random programs that keep their promises.
"""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from conformance.table import TABLE
from interop.cases import CASES, RIGHT
from interop.parts import doubles, engines_for, part, unshared_inputs, with_muxes
from interop.peer import PEERS, Answer, Job, answers
from interop.table import clean

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import fast, run
from dais_verif.spec.program import OPCODES, load
from dais_verif.spec.program.listing import listing

by_peer = pytest.mark.parametrize("peer", PEERS)

#: Rows to compare for engines that take milliseconds per row.
FEW = 4


def assert_agree(jobs: Sequence[Job]) -> Counter[int]:
    """Assert that every engine agrees with the peer; return how often each opcode was among the compared ops."""
    compared: Counter[int] = Counter()
    for job, answer in zip(jobs, answers(jobs), strict=True):
        kept = clean(job.peer, job.program)
        assert_equal(job, answer, kept)
        compared.update(op.code for op, keep in zip(job.program.ops, kept, strict=True) if keep)
    return compared


def assert_equal(job: Job, answer: Answer, kept: Sequence[bool]) -> None:
    """Assert that ``answer`` is equal to the outputs of our engines, except for ops that are not ``kept``."""
    if not isinstance(answer, np.ndarray):
        pytest.fail(f"{job.peer}: {answer}\n{listing(job.program)}")
    columns = [j for j, index in enumerate(job.program.out_idx.tolist()) if index < 0 or kept[index]]
    for engine in engines_for(job.program):
        rows = FEW if engine == "exact" and job.program.n_ops > 100 else len(answer)
        ours = run(job.program, job.matrix[:rows], engine=engine)[:, columns]
        theirs = answer[:rows, columns]
        if not np.array_equal(ours, theirs):
            row, j = np.argwhere(ours != theirs)[0].tolist()
            pytest.fail(
                f"row {row} {list(job.rows[row])}, output {columns[j]}: {engine} gives {ours[row, j]}, "
                f"{job.peer} gives {theirs[row, j]}\n{listing(job.program)}"
            )


def random_jobs(peer: str, seeds: range) -> Iterator[Job]:
    for seed in seeds:
        rng = random.Random(seed)
        program = random_program(rng, rng.randint(4, 24), promise_keeping=True, widest=rng.choice((12, 40, 70)))
        if peer == "python":
            program = unshared_inputs(program)
        cut = part(peer, program)
        if cut.n_ops and cut.n_in:
            cut = part(peer, with_muxes(rng, cut))
            yield Job(peer, cut, doubles(cut, random_rows(rng, cut)))


@by_peer
def test_random_programs(peer: str, da4ml: None) -> None:
    jobs = list(random_jobs(peer, range(150)))
    compared = assert_agree(jobs)
    assert {code for code, row in OPCODES.items() if compared[code] < 10 and not row.alir} == set(), compared
    if not fast.why_not():
        assert sum("fast" in engines_for(job.program) for job in jobs) > 0.8 * len(jobs)


@pytest.mark.slow
@by_peer
@pytest.mark.parametrize("chunk", range(10))
def test_10_000_random_programs(peer: str, chunk: int, da4ml: None) -> None:
    assert_agree(list(random_jobs(peer, range(1000 + chunk * 1000, 2000 + chunk * 1000))))


def table_jobs(peer: str) -> Iterator[Job]:
    """Yield the rows of the conformance table, without the cases that break a promise."""
    for row in TABLE:
        cut = part(peer, row.program)
        rows = doubles(cut, [one.inputs for one in row.cases if one.breaks is None])
        if cut.n_ops and cut.n_in and rows:
            yield Job(peer, cut, rows)


@by_peer
def test_the_conformance_table(peer: str, da4ml: None) -> None:
    jobs = list(table_jobs(peer))
    assert len(jobs) > len(TABLE) / 2
    assert_agree(jobs)


def corpus_jobs(peer: str, corpus: Path, rows: int | None = None, most_ops: int | None = None) -> Iterator[Job]:
    """Yield the real programs; for the Python executor, as da4ml's own files."""
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        if most_ops is not None and load(folder / "prog.v1.bin").n_ops > most_ops:
            continue
        vectors = np.load(folder / "inputs.npy")[:rows].tolist()
        if peer == "cpp":
            yield Job(peer, load(folder / "prog.v1.bin"), vectors)
        else:
            (path,) = folder.glob("da4ml.json*")
            text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            yield Job(peer, load(path), vectors, text.decode())


@pytest.mark.parametrize(
    ("rows", "most_ops", "programs"), [(50, 3000, 10), pytest.param(None, None, 14, marks=pytest.mark.slow)]
)
def test_the_corpus_on_the_interpreter(
    rows: int | None, most_ops: int | None, programs: int, corpus: Path, da4ml: None
) -> None:
    """Every output agrees (in the slow run on every row), since no case can affect a real program of the corpus."""
    jobs = list(corpus_jobs("cpp", corpus, rows, most_ops))
    assert len(jobs) >= programs and all(all(clean(job.peer, job.program)) for job in jobs)
    assert_agree(jobs)


def test_the_corpus_on_the_executor(corpus: Path, da4ml: None) -> None:
    assert_agree(list(corpus_jobs("python", corpus, 8, 3000)))


@pytest.mark.slow
def test_every_row_of_the_corpus_on_the_executor(corpus: Path, da4ml: None) -> None:
    assert_agree(list(corpus_jobs("python", corpus)))


@by_peer
def test_a_difference_is_found(peer: str, da4ml: None) -> None:
    """The comparison fails for every witness on which the peer is wrong, if all its ops are compared."""
    cases = [case for case in CASES if case.of(peer) is not RIGHT and case.witness.cases[0].breaks is None]
    jobs = [
        Job(peer, case.witness.program, [[float(value) for value in case.witness.cases[0].inputs]]) for case in cases
    ]
    for job, answer in zip(jobs, answers(jobs), strict=True):
        with pytest.raises(pytest.fail.Exception, match=peer):
            assert_equal(job, answer, [True] * job.program.n_ops)
