"""Seed faults in RTL, pipelines and netlists of real networks, and count how many escape after how many vectors.

    PYTHONPATH=tests python -m quality.evidence.faults --count 10000

Every fault is simulated on 100,000 generated vectors and on the vectors that coverage directs, and is given to the
prover. A row is wrong if a simulator finds a fault that was proved to be equivalent.
``python -m quality.evidence.plot`` draws the results.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from quality.evidence.rows import Row, parser_of, worked
from support.places import CORPUS

import dais_verif
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.sites import all_mutants, drawn
from dais_verif.coverage import measure
from dais_verif.hardware.emitter import PipelineOptions
from dais_verif.hardware.ports.interface import packed
from dais_verif.hardware.synthesis.netlist import find_netlist
from dais_verif.record.campaigns import Fate
from dais_verif.verbs.design_rtl import design_of, with_netlist
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation.mutate import mutate
from dais_verif.verbs.mutation.requests import MutationRequest
from dais_verif.verbs.mutation.simulations import Bench, plan_of
from dais_verif.verbs.vectors import batch_of

#: The programs, and those of them whose pipelines or netlists get faults as well.
NETWORKS = (
    "p03_fir16", "p04_sort8", "p05_softmax_lut", "p06_matmul_2in", "p10_bitops", "p11_cmvm_raw", "p12_quant_modes",
    "p14_v041_minmaxmul",
)  # fmt: skip
LARGE = ("p02_mlp_jet", "p07_dct8x8", "p13_hgq_jet")
PIPELINES = ("p03_fir16", "p05_softmax_lut", "p11_cmvm_raw", "p12_quant_modes")
NETLISTS = ("p10_bitops", "p11_cmvm_raw")
#: The parts of the campaign; each draws its own faults.
PARTS = [
    *[f"{name} rtl" for name in (*NETWORKS, *LARGE)],
    *[f"{name} pipeline" for name in PIPELINES],
    *[f"{name} netlist" for name in NETLISTS],
]
_PIPELINE = PipelineOptions(stages=3, reset=True, enable=True, valid=True)
#: Vectors per fault; netlists get fewer, since each of their faults needs a separate build.
VECTORS = {"rtl": 100_000, "pipeline": 100_000, "netlist": 1_000}
#: Numbers of vectors after which the faults that have escaped are counted.
COUNTS = (1, 10, 100, 1_000, 4_096, 10_000, 100_000)


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    parser = parser_of(__doc__, "faults", "faults", 10_000)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    asked = parser.parse_args(arguments)
    share = -(-asked.count // len(PARTS))
    rows = []
    for row in worked(asked.output, [f"{part}/{share}" for part in asked.part or PARTS], judge, asked.jobs):
        rows.append(row)
        print(line(row), flush=True)
    print(line(total(rows)))
    return 1 if any(row["wrong"] for row in rows) or not rows else 0


def judge(key: str) -> Row:
    """Return the fates of the faults of one part, and how many escape."""
    part, _, count = key.partition("/")
    name, form = part.split()
    program = CORPUS / name / "prog.v1.bin"
    with tempfile.TemporaryDirectory(prefix="dais-faults-") as text:
        folder = Path(text)
        design = DesignRequest(pipeline=_PIPELINE if form == "pipeline" else None)
        if form == "netlist":
            dais_verif.synthesize(program, "ice40", output=folder / "synth")
            netlist = find_netlist(folder / "synth", "ice40")
            design = replace(design, netlist=netlist)
        request = MutationRequest(
            program=program, design=design, count=int(count), vectors=VECTORS[form], jobs=1, output=folder / "out"
        )
        record = mutate(request)
        if record.verdict is not Verdict.PASS:
            return {"wrong": [f"{record.verdict.name}: {record.message}"]}
        directed, seen = _directed(program, design, int(count), folder)
    fates = Counter(row.fate for row in record.mutants)
    to_kill = [row for row in record.mutants if row.fate in (Fate.SIMULATION, Fate.PROOF)]
    return {
        "faults": record.summary.mutants,
        "fates": dict(fates),
        "to_kill": len(to_kill),
        "escaped": [
            sum(row.vector is None or row.vector >= n for row in to_kill) for n in COUNTS if n <= VECTORS[form]
        ],
        "directed_vectors": directed,
        "escaped_directed": sum(row.number not in seen for row in to_kill),
        "kinds": record.kinds,
        "seconds": record.seconds,
        "wrong": [f"line {row.line}: {row.old} -> {row.new}" for row in record.mutants if row.fate == Fate.UNSOUND],
    }


def _directed(path: Path, asked: DesignRequest, count: int, folder: Path) -> tuple[int, set[int]]:
    """Return the number of vectors that coverage directs, without others before them, and the faults that they find."""
    program = dais_verif.load(path)
    batch = measure(program, batch_of([program], (), 0, 0), seed=0, check=True, jobs=1)[1]
    asked = with_netlist(asked, folder)
    design = design_of(program, asked, folder)
    files = {source.name: source.read_bytes().decode("latin-1") for source in design.sources}
    own = {design.sources[0].name: files[design.sources[0].name]} if asked.of_bits else files
    chosen = dict(enumerate(drawn(all_mutants(own), count, 0), start=1))
    dut = design.dut or packed(program)
    bench = Bench(files, design.top, dut, design.data, plan_of(program, dut, batch, True, 0), folder, 3600.0)
    wrong, _ = bench.judge("verilator", chosen, lambda done: None)
    return batch.rows, set(wrong)


def total(rows: list[Row]) -> Row:
    """Return the sums of all parts."""
    whole = [row for row in rows if "faults" in row]
    fates: Counter[str] = Counter()
    for row in whole:
        fates += Counter(row["fates"])
    return {
        "key": "all",
        "faults": sum(row["faults"] for row in whole),
        "fates": dict(fates),
        "to_kill": sum(row["to_kill"] for row in whole),
        "escaped": [sum(row["escaped"][min(n, len(row["escaped"]) - 1)] for row in whole) for n in range(len(COUNTS))],
        "escaped_directed": sum(row["escaped_directed"] for row in whole),
        "wrong": [what for row in rows for what in row["wrong"]],
    }


def line(row: Row) -> str:
    """Return a row as a line of text."""
    if "faults" not in row:
        return f"{row['key']}: {row['wrong']}"
    escaped = ", ".join(f"{n:,}: {count}" for n, count in zip(COUNTS, row["escaped"], strict=False))
    text = f"{row['key']}: {row['faults']} faults, {row['fates']}; escaped of {row['to_kill']} after {escaped}"
    return f"{text}; directed: {row['escaped_directed']}; {len(row['wrong'])} wrong"


if __name__ == "__main__":
    sys.exit(main())
