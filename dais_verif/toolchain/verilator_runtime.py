"""The common part of all Verilator simulations, compiled once per machine.

This part consists of Verilator's runtime, cocotb's main program and the headers that every design includes. It is the
same for all designs, but takes several times as long to compile as a small design. Therefore it is kept in the cache,
in a folder whose name is the hash of everything that it depends on. The folder is renamed into place when it is
complete, under a lock, so that an existing folder is always complete. The folder is sealed with a file of the hashes of
all its files; if they do not match, the runtime is compiled again. This detects damage, but not an attacker: anyone who
can write to the cache can run code as its user.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import ToolError
from dais_verif.toolchain import tools
from dais_verif.toolchain.process import Session

__all__ = [
    "HEADERS",
    "NATIVE",
    "OPTIMISATION",
    "PREFIX",
    "Manifest",
    "check_fits",
    "clear",
    "compile_command",
    "ensure",
    "home",
    "intact",
    "main_object",
    "place",
    "verilator_options",
]

PREFIX = "Vdesign"

#: The folder of our own C++, which connects cocotb's main program, compiled once, to any design.
NATIVE = Path(__file__).parent / "native"

#: The optimisation of a design. As measured up to 50,000 ops, -O0 saves a tenth of the build time, but simulates ten
#: times slower.
OPTIMISATION = "-O1"

_FLAGS = ("-std=gnu++17", "-pthread")

#: The header that must be included before anything else: GCC then uses the precompiled header beside it, if that was
#: made with the same options. Reading these headers takes most of the compile time of a small design.
HEADERS = "headers.h"
_HEADERS_TEXT = """\
#pragma once
#include "verilated.h"
#include "verilated_dpi.h"
#if VM_TRACE_VCD
#include "verilated_vcd_c.h"
#endif
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#include "extends.h"
"""

_OPTIONS, _SEAL = "options.json", "seal.json"


@dataclass(frozen=True)
class Manifest:
    """The output of ``--make json`` for a verilated design: C++ files by kind, and the options for the compiler."""

    options: dict[str, object]
    runtime: tuple[Path, ...]
    fast: tuple[Path, ...]
    slow: tuple[Path, ...]

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest in ``folder``, which holds the output of Verilator."""
        content = json.loads(_without_octal((folder / f"{PREFIX}.json").read_bytes()).decode(errors="surrogateescape"))
        # The manifest omits kinds without files.
        files = {kind: tuple(map(Path, paths)) for kind, paths in content["sources"].items()}
        return cls(
            options=content["options"],
            runtime=files["global"],
            fast=files.get("classes_fast", ()) + files.get("support_fast", ()),
            slow=files.get("classes_slow", ()) + files.get("support_slow", ()),
        )

    def defines(self) -> list[str]:
        """Return the options for macros that must be the same for runtime and design, as in ``verilated.mk``."""
        names = {
            "VM_COVERAGE": "coverage",
            "VM_SC": "system_c",
            "VM_TIMING": "use_timing",
            "VM_TRACE": "trace",
            "VM_TRACE_FST": "trace_fst",
            "VM_TRACE_SAIF": "trace_saif",
            "VM_TRACE_VCD": "trace_vcd",
        }
        switches = [f"-D{macro}={int(bool(self.options[key]))}" for macro, key in names.items()]
        return ["-DVERILATOR=1", *switches]


def _without_octal(text: bytes) -> bytes:
    """Return ``text`` as valid JSON: Verilator writes bytes of paths beyond ASCII in octal, such as ``\\303``."""
    return re.sub(rb"\\(\\|[0-7]{3})", lambda m: m[0] if m[1] == b"\\" else bytes([int(m[1], 8)]), text)


def verilator_options(*, waves: bool, coverage: bool = False) -> list[str]:
    """Return the options that determine the content of the runtime; every design is verilated with them."""
    options = ["--cc", "--exe", "--vpi", "--no-timing", "--make", "json", "--prefix", PREFIX, "-Wno-fatal"]
    return [*options, *["--trace-vcd"] * waves, *["--coverage-line", "--coverage-toggle"] * coverage]


def compile_command(
    verilator: tools.VerilatorTools,
    manifest: Manifest,
    source: Path,
    output: Path,
    optimisation: str,
    *,
    include: Iterable[Path] = (),
) -> list[str]:
    """Return the command that compiles one C++ file into an object."""
    folders = [*include, verilator.root / "include", verilator.root / "include" / "vltstd"]
    flags = [optimisation, *_FLAGS, *manifest.defines(), *(f"-I{folder}" for folder in folders)]
    return [str(verilator.compiler), *flags, "-c", str(source), "-o", str(output)]


def main_object(folder: Path) -> Path:
    """Return the object of cocotb's main program, which needs a ``Vtop`` as in ``native/Vtop.h``."""
    return folder / "main.o"


def home() -> Path:
    """Return the folder of all runtimes."""
    return tools.cache_dir() / "runtime"


def place(*, waves: bool = False, coverage: bool = False) -> Path:
    """Return the folder of a runtime, which may not exist yet; its name depends on everything in the build."""
    return home() / _key(tools.verilator(), verilator_options(waves=waves, coverage=coverage))


def ensure(*, waves: bool = False, coverage: bool = False) -> Path:
    """Return the folder of the runtime's objects; compile them unless this machine has an intact one."""
    folder = place(waves=waves, coverage=coverage)
    if intact(folder):
        return folder
    import filelock  # imported late: loading takes longer than the rest of this function

    try:
        home().mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder.with_name(folder.name + ".lock")):
            if not intact(folder):
                for left_over in home().glob(f"{folder.name}-*"):
                    shutil.rmtree(left_over, ignore_errors=True)
                announce(waves=waves, coverage=coverage)
                unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=home()))
                _build(tools.verilator(), unfinished, verilator_options(waves=waves, coverage=coverage))
                _seal(unfinished)
                _remove(folder)
                unfinished.rename(folder)
    except OSError as error:
        raise ToolError(
            f"Verilator's runtime cannot be kept in {home()}: {error.strerror};"
            " set DAIS_VERIF_CACHE to a folder that is writable"
        ) from error
    return folder


def announce(*, waves: bool, coverage: bool) -> None:
    """Print why the run takes longer: the first build needs an additional half minute."""
    what = [*["waves"] * waves, *["coverage"] * coverage]
    kind = f" with {' and '.join(what)}" if what else ""
    print(
        f"dais-verif: compiling Verilator's runtime{kind}, once per machine; it takes 10 to 40 s",
        file=sys.stderr,
        flush=True,
    )


def intact(folder: Path) -> bool:
    """Return True if ``folder`` holds a runtime, all files of which are unchanged."""
    try:
        seal = json.loads((folder / _SEAL).read_bytes())
        return bool(seal) and seal == _hashes(folder)
    except (OSError, ValueError):
        return False


def clear() -> int:
    """Remove all runtimes, and return their size in bytes. Running builds may fail."""
    size = sum(path.stat().st_size for path in home().rglob("*") if path.is_file()) if home().is_dir() else 0
    _remove(home())
    return size


def _seal(folder: Path) -> None:
    (folder / _SEAL).write_text(json.dumps(_hashes(folder)), encoding="utf-8")


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.name != _SEAL and not path.is_dir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _remove(folder: Path) -> None:
    """Remove ``folder``. It is renamed first, so that no process uses a partly removed one."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        doomed = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def check_fits(folder: Path, manifest: Manifest) -> None:
    """Raise ``ToolError`` if options of a design and the runtime differ: the result might link, but misbehave."""
    options = json.loads((folder / _OPTIONS).read_text(encoding="utf-8"))
    if options != manifest.options:
        raise ToolError(
            f"Verilator's runtime in {folder} was compiled with other options than this design needs;"
            f" delete that folder ({options} against {manifest.options})"
        )


def _build(verilator: tools.VerilatorTools, folder: Path, shared: Sequence[str]) -> None:
    (folder / "empty.v").write_text("module empty(input a);\nendmodule\n", encoding="ascii")
    session = Session(folder / "build.log", cwd=folder, env=verilator.env)
    # With a public signal, Verilator includes the parts that every design needs for cocotb.
    options = [*shared, "--public-flat-rw", "--Mdir", "design", "empty.v"]
    session.check("verilator", [*verilator.driver, *options])
    manifest = Manifest.read(folder / "design")
    (folder / HEADERS).write_text(_HEADERS_TEXT, encoding="ascii")
    main = main_object(Path())
    commands = [
        compile_command(verilator, manifest, tools.cocotb_main(), main, OPTIMISATION, include=[NATIVE]),
        compile_command(verilator, manifest, Path(HEADERS), Path(f"{HEADERS}.gch"), OPTIMISATION, include=[NATIVE]),
        *(
            compile_command(verilator, manifest, source, Path(f"{source.stem}.o"), OPTIMISATION)
            for source in manifest.runtime
        ),
    ]
    session.check("g++", *commands, jobs=os.cpu_count() or 1)
    (folder / _OPTIONS).write_text(json.dumps(manifest.options), encoding="utf-8")
    shutil.rmtree(folder / "design")  # no build reads this file


def _key(verilator: tools.VerilatorTools, options: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in (
        verilator.version,
        verilator.compiler_version,
        _HEADERS_TEXT,
        OPTIMISATION,
        *_FLAGS,
        *options,
    ):
        digest.update(part.encode() + b"\0")
    files = [*(verilator.root / "include").glob("verilated*"), *NATIVE.iterdir(), tools.cocotb_main()]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


if __name__ == "__main__":
    ensure()
