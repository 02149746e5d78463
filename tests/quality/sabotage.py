"""Sabotage of the tool chain, by a ``sitecustomize`` on the Python path of the commands' processes.

Each text runs first in every Python that is started, including those in simulators. ``verb`` is the command of the
process; it is empty in a simulator.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

__all__ = ["LIAR", "SABOTAGE", "STALE_COMPILER", "fake_icarus", "sabotage"]

_BEGIN = """
import sys, os
arguments = [word for word in getattr(sys, "orig_argv", [])]
known = ("check", "emit", "sim", "prove", "synth")
verb = next((word for word in arguments[3:4] if word in known), "")
"""

SABOTAGE = {
    # The scoreboard compares the outputs of the design with themselves.
    "comparison disabled": """
if verb == "":
    from dataclasses import replace
    from dais_verif.simulation import scoreboard
    compare = scoreboard.Scoreboard.compare
    def blind(self, chunk, found, unknown=None, **options):
        compare(self, replace(chunk, expected=found), found, unknown, **options)
    scoreboard.Scoreboard.compare = blind
""",
    # The scoreboard compares only the lowest bit of each row.
    "comparison of one bit": """
if verb == "":
    from dataclasses import replace
    from dais_verif.simulation import scoreboard
    compare = scoreboard.Scoreboard.compare
    def short_sighted(self, chunk, found, unknown=None, **options):
        same = chunk.expected.copy()
        same[:] = (found & ~found.dtype.type(1)) | (same & same.dtype.type(1))
        compare(self, replace(chunk, expected=same), found, unknown, **options)
    scoreboard.Scoreboard.compare = short_sighted
""",
    # The scoreboard reports the expected outputs as found: the digest is right whatever the RTL does.
    "outputs taken from the model": """
if verb == "":
    from dais_verif.simulation import scoreboard
    compare = scoreboard.Scoreboard.compare
    scoreboard.Scoreboard.compare = lambda self, chunk, found, unknown=None, **options: compare(
        self, chunk, chunk.expected, {}, **options
    )
""",
    # The expected outputs are those of the wrong RTL, with output 0 one too high, and the oracle does not check them.
    "golden model made from the RTL": """
if verb == "sim":
    import dais_verif.golden as golden
    run = golden.Golden.run_raw
    def raised(self, batch, **options):
        outputs = run(self, batch, **options)
        return ((outputs[0] + 17) % 32 - 16, *outputs[1:])
    golden.Golden.run_raw = raised
    import dais_verif.simulation.in_parallel as together, dais_verif.simulation.verify as verify
    together.blame_expectation = verify.blame_expectation = lambda *arguments: None
""",
    # The record is cut off in the middle.
    "truncated record": """
if verb == "sim":
    from dais_verif.verbs import work_folder as folder
    write = folder.write_atomically
    folder.write_atomically = lambda path, data: write(path, data[: len(data) // 2])
""",
    "truncated output": """
if verb == "sim":
    import click
    echo = click.echo
    click.echo = lambda message=None, **options: echo(str(message)[: len(str(message)) // 2], **options)
""",
    "fewer vectors": """
if verb == "sim":
    import dais_verif.verbs.simulate as flow
    made = flow.WithBoundaries
    flow.WithBoundaries = lambda program, rows, seed, **options: made(program, min(rows, 10), seed, **options)
""",
    # All vectors that are sent are equal to the first one.
    "the same vector again": """
if verb == "sim":
    import dais_verif.verbs.simulate as flow
    from dais_verif.spec.program.numbers import Batch
    class Stuck(flow.WithBoundaries):
        def slice(self, start, stop):
            first = super().slice(0, 1)
            return Batch.concatenate([first] * (stop - start)) if stop > start else super().slice(0, 0)
    flow.WithBoundaries = Stuck
""",
    # Coverage counts few vectors, and no vectors are directed at open bins.
    "no directed vectors": """
if verb == "sim":
    import dais_verif.coverage as coverage
    from dais_verif.spec.program.numbers import Batch
    measure = coverage.measure
    def lazy(program, vectors, **options):
        return measure(program, vectors.slice(0, 3), **{**options, "directed": False})
    coverage.measure = lazy
""",
    "coverage that counts nothing": """
if verb == "sim":
    import dais_verif.coverage as coverage
    measure = coverage.measure
    coverage.measure = lambda *arguments, **options: (None, measure(*arguments, **options)[1])
""",
    "coverage that boasts": """
if verb == "sim":
    from dataclasses import replace
    import dais_verif.coverage as coverage
    measure = coverage.measure
    def boast(program, vectors, **options):
        found, directed = measure(program, vectors.slice(0, 3), **{**options, "directed": False})
        return replace(found, percent=100.0), directed
    coverage.measure = boast
""",
    "exit code always 0": """
if verb:
    import atexit
    leave = os._exit  # by which a verb ends, before what was registered here is called
    os._exit = lambda code: leave(0)
    atexit.register(lambda: (sys.stdout.flush(), leave(0)))
""",
    "verdict always PASS": """
if verb == "sim":
    import dais_verif.verbs.simulate as flow
    from dataclasses import replace
    from dais_verif.base.verdict import Verdict
    finished = flow.finished_record
    flow.finished_record = lambda *arguments: replace(finished(*arguments), verdict=Verdict.PASS)
""",
    # ``sim`` prints the record of an earlier run, whose folder an environment variable names.
    "record of an earlier run": """
if verb == "sim":
    import shutil
    from pathlib import Path
    old = Path(os.environ["EARLIER_RUN"])
    run = Path(arguments[arguments.index("-o") + 1])
    shutil.copytree(old, run, dirs_exist_ok=True)
    print((run / "result.json").read_text())
    sys.stdout.flush()
    os._exit(0)
""",
    "ends at once without a word": """
if verb == "sim":
    os._exit(0)
""",
    "overflow unchecked": """
if verb == "sim":
    import dais_verif.doors.cli.sim as sim
    sim.sim.params[[p.name for p in sim.sim.params].index("unchecked")].default = True
""",
    "only one simulator": """
if verb == "sim":
    import dais_verif.verbs.simulate as flow
    flow.simulators_for = lambda choice, sources: ("icarus",)
""",
    # The prover always reads the design that is signed off, even if it is given another one.
    "prover with another design": """
if verb == "prove":
    import dais_verif.prover.slang as slang
    elaborate = slang.elaborate
    def first_only(sources, top, *rest, **options):
        return elaborate(sources[:1], "model", *rest, **options)
    slang.elaborate = first_only
""",
    "prover that believes": """
if verb == "prove":
    from dataclasses import replace
    import msgspec
    import dais_verif.prover.proof as proof
    from dais_verif.record.proof import Status
    from dais_verif.base.verdict import Verdict
    prove = proof.prove
    def believe(*arguments, **options):
        found = prove(*arguments, **options)
        outputs = [msgspec.structs.replace(claim, status=Status.PROVED, inputs=None) for claim in found.outputs]
        return replace(found, verdict=Verdict.PASS, outputs=outputs, counterexample=None)
    proof.prove = believe
""",
    # The RTL is changed while it is signed off.
    "RTL changed meanwhile": """
if verb and any(os.environ["CHANGED_BY"] in word for word in arguments[3:]):
    import atexit
    from pathlib import Path
    path = Path(os.environ["CHANGED_FILE"])
    leave = os._exit  # by which a verb ends, before what was registered here is called
    late = lambda: path.write_text(path.read_text() + "// late\\n")
    os._exit = lambda code: (late(), leave(code))
    atexit.register(late)
""",
}


def sabotage(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage the process of every command that starts from now on."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_BEGIN + SABOTAGE[name])
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    monkeypatch.setenv("PYTHONPATH", path)


#: An ``iverilog`` that builds once and returns that build from then on.
STALE_COMPILER = """#!/bin/sh
last= out=
for word in "$@"; do [ "$last" = -o ] && out=$word; last=$word; done
if [ -n "$out" ] && [ -f {kept} ]; then cp {kept} "$out"; exit 0; fi
{real} "$@" || exit $?
if [ -n "$out" ] && [ -f "$out" ]; then cp "$out" {kept}; fi
"""

#: A ``vvp`` that simulates nothing and reports success; it knows all that the bench knows. ``clever``: its digest is
#: that of the expected outputs.
LIAR = """#!{python}
import json, os, sys, time
from pathlib import Path
from dais_verif.simulation.testbench.exchange import answer, take_key
key = take_key()
job_file = Path(os.environ["DAIS_VERIF_JOB"])
while not job_file.exists():
    time.sleep(0.01)
job = json.loads(job_file.read_bytes())
bits = {{side: sum(wire[2] for wire in job["interface"][side]) for side in ("inputs", "outputs")}}
digest = 0
for number, start in enumerate(job["starts"][:-1]):
    path = Path(job["chunks"]) / f"{{number:06}}.bin"
    while not path.exists():
        time.sleep(0.01)
    if {clever}:
        import numpy as np
        from dais_verif.simulation.scoreboard import digest_of
        rows, words = job["starts"][number + 1] - start, -(-bits["outputs"] // 64)
        expected = np.fromfile(path, dtype="<u8")[-rows * words :].reshape(rows, words)
        digest ^= digest_of(start, expected, {{}})
    path.unlink()
rows = job["starts"][-1]
said = {{"rows": rows, "bits": rows * bits["outputs"], "digest": f"{{digest or 5:064x}}"}}
answer(job_file.with_name("answer.json"), {{**said, "first_mismatch": None, "first_unknown": None}}, key)
Path(os.environ["COCOTB_RESULTS_FILE"]).write_text(
    "<testsuites><testsuite><testcase classname='b' name='t'/></testsuite></testsuites>"
)
"""


def fake_icarus(folder: Path, monkeypatch: pytest.MonkeyPatch, *, iverilog: str = "", vvp: str = "") -> None:
    """Replace the compiler or the simulator of Icarus by a script."""
    folder.mkdir()
    real = {name: shutil.which(name) for name in ("iverilog", "vvp")}
    for name, script in (("iverilog", iverilog), ("vvp", vvp)):
        text = script or f'#!/bin/sh\nexec {real[name]} "$@"\n'
        text = text.replace("{real}", str(real[name])).replace("{kept}", str(folder / "kept"))
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(folder / "iverilog"))
