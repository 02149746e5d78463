"""Compare how the prover's front ends and simulators read random modules.

Run it as ``python -m prove.soundness.readings``. Each value that a reader of the prover gives for an output bit must
be the value in Icarus and Verilator, on all vectors. A reader may refuse a module or an output, or call a bit
undefined; it must not give a value to a bit that is X in Icarus, nor a value that a simulator does not compute. If
the simulators themselves disagree on an output, nothing is proved of it, since proofs are confirmed in both; such
outputs are counted, as are the simulator defects in ``defects``.

Results are stored module by module, and an interrupted campaign resumes; modules that were wrong, or whose text has
changed since, are judged again. Verilator builds slowly, so it can be restricted to some modules: those that Icarus
does not accept or in which Icarus contradicts a reader, and a fraction of the others.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from prove.soundness.defects import DEFECTS
from prove.soundness.modules import Module, random_module
from prove.soundness.simulators import Bits, fields, in_icarus, in_verilator, simulated, vectors, write

from dais_verif.base.errors import InputError, ToolError
from dais_verif.base.toolchain.limits import Limits
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.prover import slang, yosys
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.terms import Term, extract, leaves, var
from dais_verif.prover.terms.evaluate import evaluate

__all__ = ["SIMULATORS", "as_read", "exceptions", "judge"]

SIMULATORS = {"icarus": in_icarus, "verilator": in_verilator}
_LIMITS = Limits(300, 4096)
_DEPTH = 20_000
#: Undefined bits are filled with this many random values; a bit that changes with them is undefined. The second number
#: is for rechecks.
_FILLS, _MORE_FILLS = 16, 256
#: Modules with these features read bits without a value, and a simulator may show fewer known bits than there are.
_OPEN = {"beyond", "division by zero", "latch", "unassigned", "X in a case"}


def as_read(netlist: Netlist, outputs: Sequence[str], rows: Sequence[int], fills: int = _FILLS) -> list[Any]:
    """Return each output that a reader sees, as ``Bits`` for each row, or the text of its refusal."""
    inputs = {netlist.signals[port]: var(netlist.signals[port].width, port) for port in netlist.inputs}

    def given(signal: Signal, low: int, width: int) -> Term | None:
        return extract(inputs[signal], low, width) if signal in inputs else None

    cone = Cone(given)
    found: list[Any] = []
    for signal in (netlist.signals[name] for name in outputs):
        try:
            found.append(_values(cone.read(signal, 0, signal.width), rows, fills))
        except InputError as error:
            found.append(str(error))
            cone = Cone(given)
    return found


def _values(term: Term, rows: Sequence[int], fills: int) -> list[Bits]:
    everything, given = (1 << term.width) - 1, leaves(term)
    if not given:
        return [Bits(int(evaluate([term], {})[0][0]), everything)] * len(rows)
    unknown = [t for t in given if t.op == "undefined"]
    times = fills if unknown else 1
    inputs = [fields(row) for row in rows]
    columns = {t: [row[str(t.data)] for row in inputs] * times for t in given if t.op == "var"}
    for number, t in enumerate(unknown):
        rng = random.Random(number)
        some = [rng.getrandbits(t.width) for _ in range(times)]
        some[:2] = [0, (1 << t.width) - 1]
        columns[t] = [value for value in some for _ in rows]
    found = evaluate([term], {t: np.array(column, dtype=object) for t, column in columns.items()})[0]
    by_fill = found.reshape(times, len(rows))
    changing = by_fill[0] ^ by_fill[0]
    for values in by_fill[1:]:
        changing = changing | (values ^ by_fill[0])
    pairs = zip(by_fill[0].tolist(), changing.tolist(), strict=True)
    return [Bits(value & ~change, everything & ~change) for value, change in pairs]


def judge(
    modules: Sequence[Module],
    rows: Sequence[int],
    folder: Path,
    *,
    simulators: Sequence[str] = tuple(SIMULATORS),
    by_yosys: Iterable[str] = (),
    verilator_every: int = 1,
) -> dict[str, dict[str, Any]]:
    """Return the record of each module, by name: ``readers`` with the result of each, and ``wrong`` if it was wrong.

    ``by_yosys``: the names of the modules that Yosys reads, too. ``verilator_every``: of the modules that Icarus
    accepts and does not contradict, Verilator runs one of this many.
    """
    sys.setrecursionlimit(_DEPTH)
    first = simulators if verilator_every == 1 else [name for name in simulators if name != "verilator"]
    said = simulated(modules, rows, folder, {name: SIMULATORS[name] for name in first})
    records = _records(modules, rows, folder, said, set(by_yosys))
    if len(first) < len(simulators):
        some = [m for m in modules if _asked(m, records[m.name], verilator_every)]
        said |= simulated(some, rows, folder, {"verilator": SIMULATORS["verilator"]})
        records |= _records(some, rows, folder, said, set(by_yosys))
    return records


def _asked(m: Module, record: Mapping[str, Any], every: int) -> bool:
    """Return whether Verilator should judge a module, too; ``record``: the result with Icarus."""
    statuses = {said["status"] for said in record["readers"].values()}
    return bool(statuses & {"not simulated", "wrong", "crashed"}) or int(m.name[1:]) % every == 0


def _records(
    modules: Sequence[Module],
    rows: Sequence[int],
    folder: Path,
    said: Mapping[str, Mapping[str, list[Bits]]],
    yosys_reads: set[str],
) -> dict[str, dict[str, Any]]:
    records = {}
    for m in modules:
        by = {name: found[m.name] for name, found in said.items() if m.name in found}
        readers = {"slang": _judged(m, rows, by, folder / "slang", "slang")}
        if m.name in yosys_reads:
            readers["yosys"] = _judged(m, rows, by, folder / "yosys", "yosys")
        records[m.name] = {
            "digest": _digest(m),
            "features": list(m.features),
            "simulators": sorted(by),
            "readers": readers,
        }
    return records


def _digest(m: Module) -> str:
    return hashlib.sha256(repr(m).encode()).hexdigest()[:16]


def _judged(m: Module, rows: Sequence[int], by: Mapping[str, list[Bits]], folder: Path, reader: str) -> dict[str, Any]:
    """Return the record of one reader; ``status`` is that of the module, ``outputs`` counts those of its outputs."""
    folder = folder / m.name
    outputs = [f"y{number}" for number in range(len(m.widths))]
    try:
        netlist = _netlist(write([m], folder), m.name, reader, folder)
        found = as_read(netlist, outputs, rows)
        if not by or (_OPEN & set(m.features) and "icarus" not in by):  # only Icarus shows what is X
            return {"status": "not simulated", "outputs": {"not simulated": len(outputs)}}
        by = _sure(m, by)
        said = [_said(m, n, rows, by, bits) for n, bits in enumerate(found)]
        if any(status == "wrong" for status, _ in said):  # an undefined bit may change in few fills only
            found = as_read(netlist, outputs, rows, _MORE_FILLS)
            said = [_said(m, n, rows, by, bits) for n, bits in enumerate(found)]
        if any(status == "wrong" for status, _ in said):
            said = _explained(m, rows, by, found, said, folder)
    except (InputError, ToolError) as error:
        return {"status": "refused", "why": str(error)[:300], "outputs": {"refused": len(outputs)}}
    except Exception:
        return {"status": "crashed", "wrong": traceback.format_exc()[-1500:], "outputs": {"crashed": len(outputs)}}
    counts = Counter(status for status, _ in said)
    worst = next(s for s in _WORST if counts[s])
    texts = [text for status, text in said if status == worst and text]
    record: dict[str, Any] = {"status": worst, "outputs": dict(counts)}
    undefined = sum(b.known != (1 << m.widths[n]) - 1 for n, f in enumerate(found) if not isinstance(f, str) for b in f)
    if undefined:
        record["undefined"] = undefined
    if texts:
        record["wrong" if worst == "wrong" else "why"] = texts[0][:300]
    return record


#: The possible statuses of an output, the worst first; a module has the status of its worst output.
_WORST = ("wrong", "simulator's defect", "simulators differ", "refused", "more is known", "agreed")


def _explained(
    m: Module,
    rows: Sequence[int],
    by: Mapping[str, list[Bits]],
    found: Sequence[Any],
    said: Sequence[tuple[str, str]],
    folder: Path,
) -> list[tuple[str, str]]:
    """Return ``said``, with outputs that only one simulator contradicts attributed to its known defects.

    An output is attributed to a defect if a reading with the same mistake gives the simulator's values.
    """
    result = list(said)
    sources, outputs = write([m], folder), [f"y{number}" for number in range(len(m.widths))]
    for defect in (d for d in DEFECTS if d.simulator in by):
        own = {defect.simulator: by[defect.simulator]}
        others = {name: bits for name, bits in by.items() if name != defect.simulator}
        for reading in defect.readings():
            with reading:
                mistaken = as_read(_netlist(sources, m.name, "slang", folder), outputs, rows)
            for n, (status, text) in enumerate(result):
                right = not others or _said(m, n, rows, others, found[n])[0] != "wrong"
                if status == "wrong" and right and _said(m, n, rows, own, mistaken[n])[0] == "agreed":
                    result[n] = "simulator's defect", f"{defect.simulator}: {defect.name}; {text}"
            if all(status != "wrong" for status, _ in result):
                return result
    return result


def _netlist(sources: Sequence[Path], top: str, reader: str, folder: Path) -> Netlist:
    if reader == "slang":
        return slang.elaborate(sources, top, {})
    slang.refuse_misread(sources, top, {})
    netlist = yosys.elaborate(elaborated(sources, top, [], folder / "work", _LIMITS), top)
    slang.refuse_events(sources, top, {})
    return netlist


def _said(m: Module, number: int, rows: Sequence[int], by: Mapping[str, list[Bits]], found: Any) -> tuple[str, str]:
    """Return the status of one output, and where the reader is wrong or why it refuses."""
    if isinstance(found, str):
        return "refused", found
    low, mask = sum(m.widths[:number]), (1 << m.widths[number]) - 1
    theirs = {name: [Bits(b.value >> low & mask, b.known >> low & mask) for b in bits] for name, bits in by.items()}
    told = "icarus" if "icarus" in theirs else next(iter(theirs))  # only Icarus shows what is X; Verilator guesses
    differ, x = "", ""
    for n, (row, ours) in enumerate(zip(rows, found, strict=True)):
        alike = _alike([bits[n] for bits in by.values()])
        common = mask
        for bits in theirs.values():
            common &= bits[n].known
        for name, bits in ((name, bits[n]) for name, bits in theirs.items()):
            text = f"y{number} in {name} on {fields(row)}: read {ours.value:#x}, known {ours.known:#x}; simulated"
            text += f" {bits.value:#x}, known {bits.known:#x} of {m.widths[number]} bits"
            if ours.known & bits.known & (ours.value ^ bits.value):
                if alike and ours.known & common & (ours.value ^ bits.value):
                    return "wrong", text
                differ = differ or text  # or the simulators disagree, so that no proof is confirmed
            elif name == told and ours.known & ~bits.known:
                x = x or text
    if differ:
        return "simulators differ", differ
    if x:
        return ("more is known", x) if _OPEN & set(m.features) else ("wrong", x)
    return "agreed", ""


def _sure(m: Module, by: Mapping[str, list[Bits]]) -> dict[str, list[Bits]]:
    """Return the simulators' values without bits that are X in Icarus, since these are arbitrary in Verilator."""
    if not _OPEN & set(m.features):
        return dict(by)
    sure = [bits.known for bits in by["icarus"]]
    return {name: [Bits(b.value, b.known & k) for b, k in zip(bits, sure, strict=True)] for name, bits in by.items()}


def _alike(row: Sequence[Bits]) -> bool:
    """Return whether all simulators agree on all bits of the module that they know.

    Otherwise no proof is confirmed; outputs that depend on such a bit may be equal by chance.
    """
    first = row[0]
    return not any(first.known & other.known & (first.value ^ other.value) for other in row[1:])


def exceptions(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the modules that a reader misread, or on which it crashed, with the reason."""
    return [
        f"{name}, {reader}: {said['wrong']}"
        for name, record in records.items()
        for reader, said in record["readers"].items()
        if said["status"] in ("wrong", "crashed")
    ]


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/readings.jsonl"))
@click.option("--modules", "count", default=10_000, show_default=True)
@click.option("--first", default=0, show_default=True, help="The seed of the first module.")
@click.option("--vectors", "many", default=48, show_default=True)
@click.option("--together", default=100, show_default=True, help="Modules in one simulation.")
@click.option("--yosys-every", default=2, show_default=True, help="Yosys reads one of so many plain ones, too.")
@click.option("--verilator-every", default=1, show_default=True, help="One of so many that Icarus does not contradict.")
@click.option("--jobs", default=2, show_default=True)
@click.option("--simulator", "simulators", multiple=True, type=click.Choice(list(SIMULATORS)), default=list(SIMULATORS))
def main(
    output: Path,
    count: int,
    first: int,
    many: int,
    together: int,
    yosys_every: int,
    verilator_every: int,
    jobs: int,
    simulators: tuple[str, ...],
) -> None:
    """Test the prover's readers with random modules."""
    output.parent.mkdir(parents=True, exist_ok=True)
    records = _kept(output)
    output.write_text("".join(_line(name, record) for name, record in records.items()))
    todo = [seed for seed in range(first, first + count) if _to_do(seed, records)]
    batches = [todo[n : n + together] for n in range(0, len(todo), together)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool, output.open("a") as kept:
        for done in as_completed(
            pool.submit(_batch, seeds, many, yosys_every, verilator_every, simulators) for seeds in batches
        ):
            some = done.result()
            records |= some
            kept.writelines(_line(name, record) for name, record in some.items())
            kept.flush()
            click.echo(f"{len(records)} modules, {len(exceptions(records))} exceptions")
    wanted = {f"m{seed}" for seed in range(first, first + count)}
    records = {name: record for name, record in records.items() if name in wanted}
    click.echo(summary(records))
    wrong = exceptions(records)
    if wrong:
        raise click.ClickException(f"{len(wrong)} exceptions, the first: {wrong[0]}")
    click.echo("no exception")


def _kept(output: Path) -> dict[str, Any]:
    """Return the records of an earlier run; its last line may be incomplete."""
    records: dict[str, Any] = {}
    for line in output.read_text().splitlines() if output.is_file() else []:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        records[record.pop("name")] = record
    return records


def _line(name: str, record: Mapping[str, Any]) -> str:
    return json.dumps({"name": name, **record}) + "\n"


def _to_do(seed: int, records: Mapping[str, Any]) -> bool:
    record = records.get(f"m{seed}")
    return record is None or record["digest"] != _digest(random_module(seed)) or bool(exceptions({"": record}))


def _batch(
    seeds: Sequence[int], many: int, yosys_every: int, verilator_every: int, simulators: Sequence[str]
) -> dict[str, dict[str, Any]]:
    modules = [random_module(seed) for seed in seeds]
    plain = [m for m in modules if not m.style.system and not m.style.casts]  # Yosys can read few of the others
    by_yosys = [m.name for m in plain if yosys_every and int(m.name[1:]) % yosys_every == 0]
    with TemporaryDirectory(prefix="dais-verif-readings-") as scratch:
        return judge(
            *(modules, vectors(many, seeds[0]), Path(scratch)),
            simulators=simulators,
            by_yosys=by_yosys,
            verilator_every=verilator_every,
        )


def summary(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the numbers of modules and outputs by reader, and the most common reasons for refusals."""
    lines = [f"{len(records)} modules; in both simulators {sum(len(r['simulators']) == 2 for r in records.values())}"]
    for reader in ("slang", "yosys"):
        said = [record["readers"][reader] for record in records.values() if reader in record["readers"]]
        modules = Counter(s["status"] for s in said)
        outputs: Counter[str] = sum((Counter(s["outputs"]) for s in said), Counter())
        reasons = Counter(_reason(s["why"]) for s in said if s["status"] == "refused")
        lines.append(
            f"{reader}: {len(said)} modules: {_counted(modules)}; {outputs.total()} outputs: {_counted(outputs)}"
        )
        lines += [f"  {n:6} refused: {reason}" for reason, n in reasons.most_common(12)]
    return "\n".join(lines)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{what} {n}" for what, n in counts.most_common())


def _reason(text: str) -> str:
    """Return the text of a refusal without places and names."""
    return re.sub(r"'[^']*'|\S+:\d+: ", "", text)[:110].strip()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
