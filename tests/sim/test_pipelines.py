"""Pipelines in simulators: a vector per clock cycle, right after the latency; stalls, resets, seeded faults."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.odd_programs import ODD_PROGRAMS
from support.programs import dense_network, every_opcode
from support.streaming import Cycle, Instance, stream, streaming

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.hardware.emitter import PipelineOptions
from dais_verif.simulation.simulators.build import SIMULATORS
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus import generate

ROWS = 100
EVERY = every_opcode()

SMALL = ("p01", "p04", "p05", "p06", "p10", "p11", "p14")
LARGE = ("p02", "p03", "p07", "p08", "p09", "p12", "p13")

both = pytest.mark.parametrize("simulator", SIMULATORS)


def instance(program: Program, rows: int = ROWS, edit: Callable[[str], str] = str, **options: object) -> Instance:
    return Instance(program, generate(program, rows, 0), PipelineOptions(**options), edit)  # type: ignore[arg-type]


def of_corpus(corpus: Path, name: str, rows: int) -> list[Instance]:
    """Return the program called ``name`` in 1, 3 and 8 stages."""
    [path] = corpus.glob(f"{name}_*/prog.v1.bin")
    program = load(path)
    batch = generate(program, rows, 0)
    return [Instance(program, batch, PipelineOptions(stages=stages)) for stages in (1, 3, 8)]


def check(instances: list[Instance], simulator: str, folder: Path, rows: int = ROWS) -> None:
    latency = max(one.pipeline().latency for one in instances)
    seen = stream(instances, streaming(rows, latency), simulator, folder)
    assert seen.wrong == []
    assert seen.compared >= rows * len(instances)


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_small_real_programs(simulator: str, corpus: Path, tmp_path: Path) -> None:
    check([one for name in SMALL for one in of_corpus(corpus, name, ROWS)], simulator, tmp_path)


@pytest.mark.slow
@both
@pytest.mark.parametrize("name", LARGE)
def test_large_real_programs(name: str, simulator: str, corpus: Path, tmp_path: Path) -> None:
    check(of_corpus(corpus, name, ROWS), simulator, tmp_path)


def random_instances(seeds: range, n_ops: int = 40, *, alir: bool = False) -> list[Instance]:
    """Return random programs, whose promises may be broken, with random numbers of stages and control ports."""
    instances = []
    for seed in seeds:
        rng = random.Random(seed)
        program = random_program(rng, n_ops, alir=alir)
        batch = Batch.of(random_rows(rng, program, ROWS), program.n_in)
        valid = rng.random() < 0.5
        control = {"valid": valid, "reset": valid and rng.random() < 0.5, "enable": rng.random() < 0.5}
        instances.append(Instance(program, batch, PipelineOptions(stages=rng.choice((1, 2, 3, 5, 9)), **control)))
    return instances


def cycles(rng: random.Random, total: int, rows: int = ROWS) -> list[Cycle]:
    """Return cycles with random stalls, gaps and resets."""
    return [
        Cycle(rng.randrange(rows), rng.random() < 0.7, rng.random() < 0.6, rng.random() < 0.05) for _ in range(total)
    ]


@both
def test_random_programs_with_stalls_gaps_and_resets(simulator: str, tmp_path: Path) -> None:
    instances = [*random_instances(range(10)), *random_instances(range(5), alir=True)]
    seen = stream(instances, cycles(random.Random(1), 300), simulator, tmp_path)
    assert seen.wrong == []
    assert seen.compared > 15 * 200


@pytest.mark.slow
@both
@pytest.mark.parametrize("start", range(100, 400, 50))
@pytest.mark.parametrize("alir", [False, True], ids=["dais", "alir"])
def test_campaign(start: int, alir: bool, simulator: str, tmp_path: Path) -> None:
    instances = random_instances(range(start, start + 50), 120, alir=alir)
    assert stream(instances, cycles(random.Random(start), 600), simulator, tmp_path).wrong == []


@both
def test_odd_programs(simulator: str, tmp_path: Path) -> None:
    """Programs without inputs, ops, bits or outputs, constant ones and wide ones pass."""
    check(
        [instance(program, stages=3) for name, program in ODD_PROGRAMS.items() if name != "large"], simulator, tmp_path
    )


@both
@pytest.mark.slow
def test_a_stage_that_is_cut_into_scopes(simulator: str, tmp_path: Path) -> None:
    check([instance(ODD_PROGRAMS["large"], stages=stages) for stages in (1, 2)], simulator, tmp_path)


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_many_scopes(simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages that are cut into scopes compute the same."""
    monkeypatch.setattr("dais_verif.hardware.emitter.module.MOST_SIGNALS", 12)
    instances = [instance(program, stages=n) for program in (EVERY, dense_network()) for n in (1, 4)]
    assert all("begin : stage_1_" in one.pipeline().text for one in instances)
    check(instances, simulator, tmp_path)


def replaced(pattern: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert len(re.findall(pattern, text)) == 1, f"{pattern!r} is not once in the text: choose another bug"
        return re.sub(pattern, new, text)

    return edit


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (replaced(r"op_3_s3 <= op_3_s2;", "op_3_s3 <= op_3;"), "vector"),
        (replaced(r"op_15 = op_3_s3 ", "op_15 = op_3_s2 "), "vector"),
        (replaced(r"out_3 = op_15_s4", "out_3 = op_15"), "vector"),
        (replaced(r"if \(en\) begin\n +valid_s2", "begin\n valid_s2"), "out_valid"),
        (replaced(r"@\(posedge clk\) if \(en\)(?= begin\n +op_0_s2)", "@(posedge clk)"), "vector"),
        (replaced(r"@\(posedge clk\) if \(en\)(?= begin\n +op_0_s2)", "@(posedge clk) if (!en)"), "vector"),
        (replaced(r"valid_s4 <= 1'b0;", ""), "out_valid"),
        (replaced(r"initial valid_s3 = 1'b0;", "initial valid_s3 = 1'b1;"), "out_valid"),
    ],
    ids=[
        "register-passed-over",
        "stage-skew",
        "output-too-early",
        "valid-ignores-enable",
        "layer-ignores-enable",
        "enable-inverted",
        "reset-forgets-a-stage",
        "valid-at-power-up",
    ],
)
def test_a_seeded_fault_is_found(edit: Callable[[str], str], says: str, tmp_path: Path) -> None:
    options = {"stages": 3, "valid": True, "enable": True, "reset": True}
    driven = cycles(random.Random(2), 200)
    seen = stream([instance(EVERY, edit=edit, **options)], driven, "icarus", tmp_path)
    assert seen.wrong
    assert all(says in line for line in seen.wrong), seen.wrong[0]
