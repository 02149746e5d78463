"""Damage program files in many ways, and check that each is read as a valid program or refused.

Either must take little time and memory. A valid program must also pass through everything that runs on programs without
an unexpected error: analysis, ports, text, Verilog, both engines.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import resource
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from dais_verif.base.errors import DaisError, InputError, ProgramError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.golden import run, run_raw
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import LAYOUTS, Program, assemble, parse, read_binary, write_binary
from dais_verif.spec.program.conversion import as_it_was, to_alir, to_dais
from dais_verif.spec.program.graph import dead_ops, depths
from dais_verif.spec.program.json_file import looks_like_json, read_json
from dais_verif.spec.program.json_writers import alir_json
from dais_verif.spec.program.listing import listing
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import analyse

__all__ = [
    "PATIENCE",
    "alir_seeds",
    "corpus_seeds",
    "generated_seeds",
    "limits",
    "text_seeds",
    "try_alir",
    "try_mutants",
    "try_texts",
]

#: Bytes of address space that a mutant may take beyond those of the process.
MEMORY = 1 << 30
#: Seconds that all work on one mutant may take.
PATIENCE = 20
#: Valid mutants with more ops are not run, to save time.
LARGEST = 300

INTERESTING = [0, 1, 2, 3, 4, 8, 9, 10, 0x7F, 0x80, 0xFE, 0xFF]
INTERESTING_WORDS = [0, 1, -1, 2, 7, 8, 32, 63, 64, 4095, 4096, 4097, -4096, -4097, 2**31 - 1, -(2**31), 0x8B1F, 0x5B]
TOKENS = [b"[", b"]", b",", b"null", b"NaN", b"-Infinity", b"1e999", b"-1", b"0.3", b'"x"', b"{}", b"true", b"9" * 30]


def json_of(program: Program) -> bytes:
    """Return ``program`` as da4ml would save it; tables begin at the minimum of their operand's type."""
    ops = []
    for op in program.ops:
        lo, hi, step = op.type.raw_min, op.type.raw_max, 2.0**-op.type.f
        data = op.data & 0xFFFF_FFFF if op.code == 8 else op.data
        ops.append([op.id0, op.id1, op.code, data, [lo * step, hi * step, step], 0.0, 0.0])
    outs = [column.tolist() for column in (program.out_idx, program.out_shift, program.out_neg != 0)]
    tables = [{"spec": {}, "table": table.tolist()} for table in program.tables]
    shape = [program.n_in, program.n_out]
    return json.dumps([shape, program.inp_shift.tolist(), *outs, ops, -1, -1, tables or None]).encode()


def generated_seeds(rng: random.Random) -> list[bytes]:
    seeds = []
    for _ in range(12):
        program = random_program(rng, rng.randint(1, 20), tables=False)
        seeds += [write_binary(program, layout) for layout in LAYOUTS]
        with_tables = random_program(rng, rng.randint(1, 20))
        seeds += [write_binary(with_tables, "v1"), json_of(with_tables), gzip.compress(json_of(program), mtime=0)]
    return seeds


def corpus_seeds(corpus: Path) -> list[bytes]:
    """Return real files below 200 kB: JSON, plain or gzip; binaries, headerless ones also in the published order."""
    seeds = []
    for path in sorted(corpus.glob("*/*")):
        if path.suffix in (".bin", ".json", ".gz") and path.name != "meta.json" and path.stat().st_size < 200_000:
            seeds.append(path.read_bytes())
            if "headerless" in path.name:
                seeds.append(write_binary(read_binary(seeds[-1], "headerless"), "published"))
    return seeds


def mutant(rng: random.Random, seeds: list[bytes]) -> bytes:
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 3, 8))):
        at = rng.randrange(max(len(data), 1))
        if rng.random() < 0.3:
            at = min(at, rng.randrange(120))  # damage to headers has the most effect
        DAMAGES[rng.choices(range(len(DAMAGES)), WEIGHTS)[0]](rng, data, at, seeds)
    return bytes(data)


Damage = Callable[[random.Random, bytearray, int, list[bytes]], object]


def flip(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    if at < len(data):
        data[at] ^= 1 << rng.randrange(8)


def interesting_byte(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    data[at : at + 1] = bytes([rng.choice(INTERESTING)])


def interesting_word(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    value = rng.choice((rng.choice(INTERESTING_WORDS), rng.randint(-12, 12)))
    data[at // 4 * 4 : at // 4 * 4 + 4] = value.to_bytes(4, "little", signed=True)


def nudge(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    """Make a word a little larger or smaller, or replace a digit of a text."""
    if data[:1] == b"[":
        digits = [j for j in range(at, min(at + 40, len(data))) if chr(data[j]).isdigit()]
        if digits:
            data[rng.choice(digits)] = ord(rng.choice("0123456789"))
        return
    place = slice(at // 4 * 4, at // 4 * 4 + 4)
    word = int.from_bytes(data[place], "little") + rng.choice((-2, -1, 1, 2, 4))
    data[place] = (word & 0xFFFF_FFFF).to_bytes(4, "little")


def insert(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    place = at // 4 * 4
    data[place:place] = rng.randbytes(rng.choice((1, 4, 4, 32)))


def delete(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    del data[at // 4 * 4 : at // 4 * 4 + rng.choice((1, 4, 4, 8, 32))]


def truncate(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    del data[rng.randrange(len(data) + 1) :]


def splice(rng: random.Random, data: bytearray, at: int, seeds: list[bytes]) -> None:
    other, size = rng.choice(seeds), rng.choice((4, 32, 32, 64))
    start = rng.randrange(len(other) + 1)
    data[at // 4 * 4 : at // 4 * 4 + size] = other[start // 4 * 4 : start // 4 * 4 + size]


def token(rng: random.Random, data: bytearray, at: int, _: object) -> None:
    data[at : at + rng.randrange(4)] = rng.choice(TOKENS)


DAMAGES: list[Damage] = [flip, interesting_byte, interesting_word, nudge, insert, delete, truncate, splice, token]
WEIGHTS = [3, 2, 5, 6, 1, 1, 1, 3, 1]


def read(data: bytes, layout: str | None) -> Program | None:
    """Read the bytes of a file as ``load`` does; None if they are refused."""
    try:
        return read_json(data) if layout is None and looks_like_json(data) else read_binary(data, layout)
    except (ProgramError, InputError) as error:
        assert "\n" not in str(error) and len(str(error)) < 600, error
        return None


def use(program: Program, rng: random.Random) -> None:
    """Run everything that runs on a valid program; ``run`` may raise a ``DaisError``, all else must succeed."""
    analyse(program)
    ports_of(program)
    dead_ops(program)
    depths(program)
    assert write_binary(assemble(listing(program)), "v1") == write_binary(program, "v1")
    emit_verilog(program)
    batch = Batch.of(random_rows(rng, program, 2), program.n_in)
    fast, slow = (run_raw(program, batch, engine=engine, check=False) for engine in ("numpy", "exact"))
    assert [column.tolist() for column in fast] == [column.tolist() for column in slow]
    try:
        run(program, batch)
    except DaisError:
        return


def expired(*_: object) -> None:
    raise TimeoutError(f"a mutant took more than {PATIENCE} s")


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Limit the process to ``MEMORY`` more than now; SIGALRM raises an error (callers set the alarm for each file)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = signal.signal(signal.SIGALRM, expired)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def try_mutants(seeds: list[bytes], count: int, number: int) -> Counter[str]:
    """Read ``count`` mutants with the seed ``number``; return how many were refused, valid and used."""
    rng = random.Random(number)
    tally: Counter[str] = Counter()
    for i in range(count):
        data = mutant(rng, seeds)
        layout = rng.choice((None, None, None, *LAYOUTS))
        signal.alarm(PATIENCE)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = read(data, layout)
            tally["refused" if program is None else "valid"] += 1
            if program is not None and program.n_ops <= LARGEST:
                use(program, rng)
                tally["used"] += 1
        except Exception as error:
            raise _kept(data, number, i) from error
    return tally


def alir_seeds(models: Path) -> list[bytes]:
    """Return ALIR files that together have all opcodes."""
    names = ("a04_sort8", "a05_where", "a06_softmax_lut", "a07_bitops", "a10_ports_consts")
    return [(models / name / "alir.json").read_bytes() for name in names]


def text_seeds(rng: random.Random) -> list[bytes]:
    """Return the listings of random programs."""
    return [listing(random_program(rng, rng.randint(1, 20))).encode() for _ in range(40)]


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return a text with a few changes: a bit flipped, characters deleted or inserted, or a digit replaced."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(made))
        digits = [j for j in range(at, min(at + 40, len(made))) if chr(made[j]).isdigit()]
        match rng.randrange(6):
            case 0:
                made[at] ^= 1 << rng.randrange(8)
            case 1:
                del made[at : at + rng.choice((1, 2, 8))]
            case 2:
                made[at:at] = rng.choice((b"[", b"]", b",", b"null", b"NaN", b"-", b"9" * 30, b"1e999", b'"x"'))
            case _ if digits:
                made[rng.choice(digits)] = ord(rng.choice("0123456789"))
    return bytes(made)


def try_alir(seeds: list[bytes], count: int, number: int) -> Counter[str]:
    """Read damaged ALIR; convert each valid program to text, DAIS and ALIR; DAIS and ALIR may refuse it."""
    return _tried(seeds, count, number, parse, _use_alir)


def try_texts(seeds: list[bytes], count: int, number: int) -> Counter[str]:
    """Read damaged texts, and use each valid program as ``try_mutants`` does."""
    rng = random.Random(number)
    return _tried(
        seeds, count, number, lambda data: assemble(data.decode("latin-1")), lambda program: use(program, rng)
    )


def _use_alir(program: Program) -> None:
    assert as_it_was(program) is None and assemble(listing(program)).hash == program.hash
    with contextlib.suppress(DaisError):
        said = to_alir(program)
        assert parse(alir_json(said)).hash == said.hash
    with contextlib.suppress(DaisError):
        to_dais(program)


def _tried(
    seeds: list[bytes],
    count: int,
    number: int,
    reader: Callable[[bytes], Program],
    using: Callable[[Program], None],
) -> Counter[str]:
    rng = random.Random(number)
    tally: Counter[str] = Counter()
    for i in range(count):
        data = damaged(rng, rng.choice(seeds))
        signal.alarm(PATIENCE)
        try:
            program = reader(data)
        except (ProgramError, InputError) as error:
            assert "\n" not in str(error) and len(str(error)) < 600, error
            tally["refused"] += 1
            continue
        except Exception as error:
            raise _kept(data, number, i) from error
        tally["valid"] += 1
        try:
            if program.n_ops <= LARGEST:
                using(program)
                tally["used"] += 1
        except Exception as error:
            raise _kept(data, number, i) from error
    return tally


def _kept(data: bytes, number: int, i: int) -> AssertionError:
    path = Path(f"/tmp/dais-verif-mutant-{number}-{i}")
    path.write_bytes(data)
    return AssertionError(f"the file is kept in {path}")
