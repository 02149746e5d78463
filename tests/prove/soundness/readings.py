"""``python -m prove.soundness.readings``: random modules, as the prover's readers and as simulators read them.

Whatever a reader of the prover says of an output bit must be what Icarus and Verilator compute, on every vector. A
reader may refuse a module or an output, or say that a bit is undefined; it may not give a value to a bit that is X in
Icarus, nor one that a simulator does not compute. Where the simulators themselves differ nothing is proved of such an
output, since proofs are confirmed in both: these are counted, and so is what ``defects`` knows of a simulator. Results
are kept module by module, and a campaign that was broken off goes on; what was wrong, or is another module by now, is
judged again. Verilator builds slowly, so it may be asked for some modules only: those that Icarus does not take, or in
which it contradicts a reader, and one of a few others.
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

from dais_verif.errors import InputError, ToolError
from dais_verif.prover import slang, yosys
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.terms import Term, extract, leaves, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.synthesis.elaboration import elaborated
from dais_verif.toolchain.limits import Limits

__all__ = ["SIMULATORS", "as_read", "exceptions", "judge"]

SIMULATORS = {"icarus": in_icarus, "verilator": in_verilator}
_LIMITS = Limits(300, 4096)
_DEPTH = 20_000
#: How often undefined bits are filled at random: a bit that changes with this is undefined. More, to be sure.
_FILLS, _MORE_FILLS = 16, 256
#: Modules with these read bits that nothing gives a value, and a simulator may say less of what follows than is so.
_OPEN = {"beyond", "division by zero", "latch", "unassigned", "X in a case"}


def as_read(netlist: Netlist, outputs: Sequence[str], rows: Sequence[int], fills: int = _FILLS) -> list[Any]:
    """Each output that a reader sees, as ``Bits`` on every row, or the text of its refusal."""
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
    """What becomes of each module, by name: ``readers`` with what each said, and ``wrong``, where it was wrong.

    ``by_yosys``: the names of those that Yosys reads, too. ``verilator_every``: Verilator is asked for one of so many
    that Icarus takes and does not contradict.
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
    """Whether Verilator is to judge a module, too; ``record``: what Icarus made of it."""
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
    """``status`` is that of the module; ``outputs`` counts those of its outputs."""
    folder = folder / m.name
    outputs = [f"y{number}" for number in range(len(m.widths))]
    try:
        netlist = _netlist(write([m], folder), m.name, reader, folder)
        found = as_read(netlist, outputs, rows)
        if not by or (_OPEN & set(m.features) and "icarus" not in by):  # only Icarus knows what is X
            return {"status": "not simulated", "outputs": {"not simulated": len(outputs)}}
        by = _sure(m, by)
        said = [_said(m, n, rows, by, bits) for n, bits in enumerate(found)]
        if any(status == "wrong" for status, _ in said):  # a bit that is undefined may change in few fills only
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


#: The status of an output; of a module, that of its worst one.
_WORST = ("wrong", "simulator's defect", "simulators differ", "refused", "more is known", "agreed")


def _explained(
    m: Module,
    rows: Sequence[int],
    by: Mapping[str, list[Bits]],
    found: Sequence[Any],
    said: Sequence[tuple[str, str]],
    folder: Path,
) -> list[tuple[str, str]]:
    """The same, where an output that one simulator alone contradicts is put down to a known defect of it.

    It is that if a reading with the same mistake gives what that simulator gives.
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
    """What is to be said of one output: a status, and where the reader is wrong or what it refuses."""
    if isinstance(found, str):
        return "refused", found
    low, mask = sum(m.widths[:number]), (1 << m.widths[number]) - 1
    theirs = {name: [Bits(b.value >> low & mask, b.known >> low & mask) for b in bits] for name, bits in by.items()}
    told = "icarus" if "icarus" in theirs else next(iter(theirs))  # what is X: Verilator can only guess
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
                differ = differ or text  # or Icarus makes a value of X, and Verilator none of it: no proof is confirmed
            elif name == told and ours.known & ~bits.known:
                x = x or text
    if differ:
        return "simulators differ", differ
    if x:
        return ("more is known", x) if _OPEN & set(m.features) else ("wrong", x)
    return "agreed", ""


def _sure(m: Module, by: Mapping[str, list[Bits]]) -> dict[str, list[Bits]]:
    """What simulators computed; what is undefined is as it pleases in Verilator, and Icarus knows."""
    if not _OPEN & set(m.features):
        return dict(by)
    sure = [bits.known for bits in by["icarus"]]
    return {name: [Bits(b.value, b.known & k) for b, k in zip(bits, sure, strict=True)] for name, bits in by.items()}


def _alike(row: Sequence[Bits]) -> bool:
    """Whether no bit of the module is known to all simulators and not the same: no proof is confirmed on others.

    Outputs that follow from it can be the same by chance.
    """
    first = row[0]
    return not any(first.known & other.known & (first.value ^ other.value) for other in row[1:])


def exceptions(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The modules that a reader misread, or over which it broke down, and how."""
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
    """Random modules against the prover's readers."""
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
    """What an earlier run judged; its last line may be broken off."""
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
    plain = [m for m in modules if not m.style.system and not m.style.casts]  # Yosys reads little else
    by_yosys = [m.name for m in plain if yosys_every and int(m.name[1:]) % yosys_every == 0]
    with TemporaryDirectory(prefix="dais-verif-readings-") as scratch:
        return judge(
            *(modules, vectors(many, seeds[0]), Path(scratch)),
            simulators=simulators,
            by_yosys=by_yosys,
            verilator_every=verilator_every,
        )


def summary(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Counts of modules and outputs, by reader, and the commonest reasons of refusals."""
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
    """A refusal without places and names."""
    return re.sub(r"'[^']*'|\S+:\d+: ", "", text)[:110].strip()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
