"""Prove random VHDL entities against tables of what GHDL's simulation computes, and against wrong tables.

Run it as ``python -m prove.soundness.vhdl``. Against the right table, an entity is proved, or refused in words; it is
never refuted. It is never proved against a table in which one bit of one entry is wrong, nor
against what GHDL's own Verilog computes, where that differs.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import re
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from prove.soundness.vhdl_entities import Entity, random_entity

from dais_verif.base.errors import DaisError
from dais_verif.base.files import write_atomically
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import packed
from dais_verif.prover import slang
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.vhdl.reading import in_verilog
from dais_verif.spec.program import Program

__all__ = ["PROVED", "REFUSED", "REFUTED", "exceptions", "flipped", "judge", "judged", "share"]

Record = dict[str, Any]

PROVED, REFUTED, UNKNOWN, REFUSED, CRASHED, STOPPED = "proved", "refuted", "unknown", "refused", "crashed", "stopped"
_STATUS = {Verdict.PASS: PROVED, Verdict.RTL_MISMATCH: REFUTED, Verdict.X_IN_OUTPUT: REFUTED, Verdict.UNKNOWN: UNKNOWN}
_LIMITS = Limits(600, 4096)
_STANDARD = "--std=08"
#: A line of VHDL, which GHDL 2.0 writes into Verilog for some operators, or a number that is text.
_NO_VERILOG = re.compile(r'std_logic_vector|<= \S+ when|"[01]+"|<unassigned>')
#: The file of an entity in an error of GHDL, at build or at run time.
_AT = re.compile(r"\b(e\d+)\.vhd:\d+")


def simulated(entities: Sequence[Entity], folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the outputs of each entity for all its inputs, as bits, and why the others have none."""
    entities, failed = [*entities], {}
    while entities:
        width = max(entity.inputs for entity in entities)
        _write(entities, folder)
        (folder / "bench.vhd").write_text(_bench(entities, width))
        files = [f"{entity.name}.vhd" for entity in entities]
        said = _run(["-a", _STANDARD, *files, "bench.vhd"], folder)
        if said.returncode == 0:
            said = _run(["--elab-run", _STANDARD, "bench", "--ieee-asserts=disable"], folder)
        if said.returncode == 0:
            return _tables(entities, said.stdout), failed
        text = said.stdout + said.stderr
        gone = {name for line in text.splitlines() if "warning" not in line for name in _AT.findall(line)}
        if not gone and len(entities) == 1:
            return {}, failed | {entities[0].name: text[-200:]}
        if not gone:  # GHDL itself failed
            middle = len(entities) // 2
            one, other = simulated(entities[:middle], folder), simulated(entities[middle:], folder)
            return one[0] | other[0], failed | one[1] | other[1]
        failed |= {name: next((line for line in text.splitlines() if "error" in line), "")[:200] for name in gone}
        entities = [entity for entity in entities if entity.name not in gone]
    return {}, failed


def _run(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(tools.ghdl().ghdl), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def _write(entities: Sequence[Entity], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{entity.name}.vhd" for entity in entities]
    for path, entity in zip(paths, entities, strict=True):
        path.write_text(entity.text)
    return paths


def _bench(entities: Sequence[Entity], width: int) -> str:
    declared, made, shown = [], [], []
    for entity in entities:
        declared.append(f"  signal o_{entity.name} : std_logic_vector({entity.outputs - 1} downto 0);")
        made.append(
            f"  i_{entity.name} : entity work.{entity.name} port map"
            f" (model_inp => x({entity.inputs - 1} downto 0), model_out => o_{entity.name});"
        )
        shown.append(
            f'      if n < {2**entity.inputs} then write(l, string\'("{entity.name} "));'
            f" write(l, to_string(o_{entity.name})); writeline(output, l); end if;"
        )
    return "\n".join(
        [
            "library ieee; use ieee.std_logic_1164.all; use std.textio.all;",
            "entity bench is end; architecture b of bench is",
            f"  signal x : std_logic_vector({width - 1} downto 0) := (others => '0');",
            *declared,
            "begin",
            *made,
            "  process variable l : line; variable v : bit_vector(31 downto 0); begin",
            f"    for n in 0 to {2**width - 1} loop",
            "      for k in x'range loop if (n / 2**k) mod 2 = 1 then x(k) <= '1'; else x(k) <= '0'; end if; end loop;",
            "      wait for 1 ns;",
            *shown,
            "    end loop; wait;",
            "  end process;",
            "end;",
        ]
    )


def _tables(entities: Sequence[Entity], text: str) -> dict[str, list[str]]:
    tables: dict[str, list[str]] = {entity.name: [] for entity in entities}
    for line in text.splitlines():
        name, _, bits = line.partition(" ")
        if name in tables:
            tables[name].append(bits)
    return tables


def _every(entities: Sequence[Entity]) -> str:
    """Return an entity with an instance of each of ``entities``."""
    ports, low, high = [], 0, 0
    for entity in entities:
        ports.append(
            f"  i_{entity.name} : entity work.{entity.name} port map"
            f" (model_inp => x({low + entity.inputs - 1} downto {low}),"
            f" model_out => y({high + entity.outputs - 1} downto {high}));"
        )
        low, high = low + entity.inputs, high + entity.outputs
    lines = [
        "library ieee; use ieee.std_logic_1164.all;",
        f"entity every is port (x : in std_logic_vector({low - 1} downto 0);",
        f"  y : out std_logic_vector({high - 1} downto 0)); end; architecture a of every is begin",
        *ports,
        "end;",
    ]
    return "\n".join(lines)


def misread(entities: Sequence[Entity], folder: Path) -> dict[str, list[str]]:
    """Return what the Verilog of GHDL's own synthesis computes, which often differs; without what is no Verilog."""
    entities = [*entities]
    while entities:
        _write(entities, folder)
        (folder / "every.vhd").write_text(_every(entities))
        _run(["-a", _STANDARD, *(f"{entity.name}.vhd" for entity in entities), "every.vhd"], folder)
        said = _run(["--synth", _STANDARD, "--out=verilog", "every"], folder)
        gone = {name for line in said.stderr.splitlines() if "warning" not in line for name in _AT.findall(line)}
        if "GHDL Bug" in said.stderr or (said.returncode and not gone):
            halves = (entities[: len(entities) // 2], entities[len(entities) // 2 :])
            return misread(halves[0], folder) | misread(halves[1], folder) if halves[0] else {}
        parts = [f"{part}\nendmodule\n" for part in said.stdout.split("\nendmodule\n")[:-1]]
        modules = {part.partition("module ")[2].split()[0]: part for part in parts}
        if said.returncode == 0:
            entities = [one for one in entities if not _NO_VERILOG.search(modules[one.name])]
            return _icarus(entities, modules, folder)
        entities = [entity for entity in entities if entity.name not in gone]
    return {}


def _icarus(entities: Sequence[Entity], modules: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    lines = ["module bench;", "  integer n;"]
    for one in entities:
        ports = f".model_inp(x_{one.name}), .model_out(y_{one.name})"
        lines.append(f"  reg [{one.inputs - 1}:0] x_{one.name}; wire [{one.outputs - 1}:0] y_{one.name};")
        lines.append(f"  {one.name} i_{one.name} ({ports});")
    lines.append("  initial begin")
    for one in entities:
        lines.append(f"    for (n = 0; n < {2**one.inputs}; n = n + 1) begin x_{one.name} = n; #1;")
        lines.append(f'      $display("{one.name} %b", y_{one.name}); end')
    text = "\n".join([*(modules[one.name] for one in entities), *lines, "  end", "endmodule", ""])
    (folder / "bench.v").write_text(text)
    command = [str(tools.icarus().iverilog), "-g2012", "-o", "bench.vvp", "bench.v"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if built.returncode:
        return {}
    vvp = [str(tools.icarus().vvp), "bench.vvp"]
    return _tables(entities, subprocess.run(vvp, cwd=folder, capture_output=True, text=True, check=True).stdout)


def converted(entities: Sequence[Entity], folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return a Verilog file of each entity, and why the others have none."""
    entities, failed = [*entities], {}
    while entities:
        paths = _write(entities, folder / "rtl")
        (folder / "rtl" / "every.vhd").write_text(_every(entities))
        try:
            text = in_verilog([*paths, folder / "rtl" / "every.vhd"], "every", [], folder / "ghdl", _LIMITS).read_text()
        except DaisError as error:
            found = re.search(r"\b(e\d+)\.vhd:(\d+): (.*)", str(error), re.DOTALL)
            if found is None and len(entities) == 1:
                failed[entities[0].name] = str(error)
                break
            if found is None:  # an error in a package has no place in an entity
                halves = (entities[: len(entities) // 2], entities[len(entities) // 2 :])
                done = [converted(half, folder / str(number)) for number, half in enumerate(halves)]
                return done[0][0] | done[1][0], failed | done[0][1] | done[1][1]
            failed[found[1]] = found[3]
            entities = [entity for entity in entities if entity.name != found[1]]
            continue
        parts = [f"{part}\nendmodule\n" for part in text.split("\nendmodule\n")[:-1]]
        modules = {part.partition("module ")[2].split()[0]: part for part in parts}
        own = {entity.name: folder / f"{entity.name}.v" for entity in entities}
        inner = "".join(module for name, module in modules.items() if name not in own and name != "every")
        for name, form in own.items():
            form.write_text(modules[name] + inner)
        return own, failed
    return {}, failed


def program_of(entity: Entity, table: Sequence[str]) -> Program:
    """Return a program that looks up ``table``."""
    kind = (0, entity.outputs, 0)
    ops = [(-1, 0, -1, 0, (0, entity.inputs, 0)), (8, 0, -1, 0, kind)]
    return Program.build(ops, [(1, 0, 0)], inp_shift=[0], tables=[[int(bits, 2) for bits in table]])


def _answer(entity: Entity, table: Sequence[str], form: Path) -> tuple[str, str]:
    program = program_of(entity, table)
    try:
        netlist = slang.elaborate([form], entity.name, {})
        options = ProofOptions(check=False, jobs=1, declared=False, timeout=20.0)
        proof = prove(program, netlist, packed(program), options)
    except DaisError as error:
        return REFUSED, str(error)
    except Exception:
        return CRASHED, traceback.format_exc()[-1500:]
    return _STATUS[proof.verdict], proof.message


def flipped(table: Sequence[str], seed: int) -> list[str]:
    """Return ``table`` with one wrong bit."""
    rng = random.Random(seed)
    wrong = [*table]
    entry = rng.randrange(len(wrong))
    bit = rng.randrange(len(wrong[entry]))
    other = "1" if wrong[entry][bit] == "0" else "0"
    wrong[entry] = wrong[entry][:bit] + other + wrong[entry][bit + 1 :]
    return wrong


def judge(seeds: Sequence[int], folder: Path, own: bool = False) -> dict[str, Record]:
    """Return the record of each random entity."""
    return judged([random_entity(seed) for seed in seeds], folder, own)


def judged(entities: Sequence[Entity], folder: Path, own: bool = False) -> dict[str, Record]:
    """Return the record of each entity: the answers for its right table and for a wrong one.

    ``own``: whether to ask for the table that GHDL's own Verilog computes, too.
    """
    sys.setrecursionlimit(20_000)
    tables, stopped = simulated(entities, folder / "simulation")
    records: dict[str, Record] = {name: {"right": STOPPED, "why": why} for name, why in stopped.items()}
    runs = [entity for entity in entities if entity.name in tables]
    forms, refused = converted(runs, folder)
    others = misread([entity for entity in runs if entity.name in forms], folder / "own") if own else {}
    for entity in runs:
        table = tables[entity.name]
        if not all(set(bits) <= {"0", "1"} for bits in table):
            records[entity.name] = {"right": STOPPED, "why": "an output bit is neither 0 nor 1"}
        elif entity.name in refused:
            records[entity.name] = {"right": REFUSED, "why": refused[entity.name], "wrong": REFUSED}
        else:
            status, why = _answer(entity, table, forms[entity.name])
            wrong, _ = _answer(entity, flipped(table, int(entity.name[1:])), forms[entity.name])
            records[entity.name] = {"right": status, "why": why, "wrong": wrong}
            other = others.get(entity.name, table)
            if other != table and all(set(bits) <= {"0", "1"} for bits in other):
                records[entity.name]["misread"] = _answer(entity, other, forms[entity.name])[0]
    return records


def exceptions(records: Mapping[str, Record]) -> list[str]:
    """Return the entities that were read wrongly, or on which the prover crashed."""
    return [
        f"{name}: {record}"
        for name, record in records.items()
        if record["right"] in (REFUTED, CRASHED)
        or record.get("wrong") in (PROVED, CRASHED)
        or record.get("misread") in (PROVED, CRASHED)
    ]


def share(records: Mapping[str, Record]) -> float:
    """Return the share of the right entities that are proved."""
    right = [record for record in records.values() if record["right"] != STOPPED]
    return sum(record["right"] == PROVED for record in right) / max(len(right), 1)


def _judged(seeds: Sequence[int]) -> dict[str, Record]:
    with TemporaryDirectory(prefix="dais-verif-vhdl-") as scratch:
        return judge(seeds, Path(scratch), own=True)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/vhdl.json"))
@click.option("--entities", "count", default=2000, show_default=True)
@click.option("--first", default=0, show_default=True, help="The seed of the first entity.")
@click.option("--jobs", default=2, show_default=True)
def main(output: Path, count: int, first: int, jobs: int) -> None:
    """Run the campaign; an exit code other than 0 means that an entity was read wrongly, or that too few are proved."""
    records: dict[str, Record] = json.loads(output.read_text()) if output.exists() else {}
    seeds = [seed for seed in range(first, first + count) if f"e{seed}" not in records]
    batches = [seeds[at : at + 100] for at in range(0, len(seeds), 100)]
    with multiprocessing.Pool(jobs, maxtasksperchild=1) as pool:
        for found in pool.imap_unordered(_judged, batches):
            records |= found
            write_atomically(output, json.dumps(records, indent=1).encode())
            click.echo(f"{len(records)} entities, {len(exceptions(records))} exceptions", err=True)
    click.echo(f"right: {dict(Counter(record['right'] for record in records.values()))}")
    click.echo(f"wrong: {dict(Counter(str(record.get('wrong')) for record in records.values()))}")
    click.echo(f"misread: {dict(Counter(record['misread'] for record in records.values() if 'misread' in record))}")
    for text, number in Counter(
        re.sub(r"\b\w*\d\w*\b", "_", record["why"])[:110] for record in records.values() if record["right"] != PROVED
    ).most_common(20):
        click.echo(f"{number:6} {text}")
    click.echo(f"proved: {share(records):.1%}")
    for line in exceptions(records):
        click.echo(line)
    sys.exit(bool(exceptions(records)) or share(records) < 0.95)


if __name__ == "__main__":
    main()
