"""The common part of all Verilator simulations, compiled once per installation.

This part consists of Verilator's runtime, cocotb's main program and the headers that every design includes. It is the
same for all designs, but takes several times as long to compile as a small design. It is kept in a folder whose name is
the hash of everything that it depends on, in one of two places:

- in the installation, where ``make setup`` puts it. Anyone who can write there can also replace dais-verif and Python:
  this runtime is trusted like them, also by a sign-off; but only if no other user can write to its files.
- in the cache, where a run compiles what is not installed. Anyone who can write to the cache can run code as its user,
  so a sign-off uses a cache of its own.

A folder is renamed into place when it is complete, under a lock, so that an existing folder is always complete. It is
sealed with a file of the hashes of all its files; if they do not match, the runtime is compiled again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.process import Session
from dais_verif.base.toolchain.tool_files import sha256_of

__all__ = [
    "HEADERS",
    "NATIVE",
    "OPTIMISATION",
    "PARANOID",
    "PREFIX",
    "Manifest",
    "check_fits",
    "clear",
    "compile_command",
    "digest",
    "ensure",
    "find",
    "home",
    "home_in",
    "install",
    "installed_home",
    "intact",
    "key_of",
    "own_objects",
    "verilator_options",
    "why_unsafe",
]

PREFIX = "Vdesign"

#: The variable that tells commands not to use the installed runtime.
PARANOID = "DAIS_VERIF_PARANOID"

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

_OPTIONS, _SEAL, _TEXTS = "options.json", "seal.json", "texts.json"
#: Names of runtimes, with a suffix if unfinished or doomed: anything else in their folder is never removed.
_OURS = re.compile(r"[0-9a-f]{24}(-\w+)?")

#: The variants that ``install`` compiles: (waves, coverage).
_VARIANTS = ((False, False), (True, False), (False, True))

_SETUP = f"{sys.executable} -m dais_verif.base.toolchain.verilator_runtime"


@dataclass(frozen=True)
class Manifest:
    """The output of ``--make json`` for a verilated design: C++ files by kind, and the options for the compiler."""

    options: dict[str, object]
    runtime: tuple[Path, ...]
    fast: tuple[Path, ...]
    slow: tuple[Path, ...]

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest in ``folder``, which holds the output of Verilator. Raises ``ToolError`` if it is none."""
        path = folder / f"{PREFIX}.json"
        try:
            content = json.loads(_without_octal(path.read_bytes()).decode(errors="surrogateescape"))
            # The manifest omits kinds without files.
            files = {kind: tuple(map(Path, paths)) for kind, paths in content["sources"].items()}
            options, runtime = content["options"], files["global"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SimulatorFailure(
                f"verilator exited with code 0, but its manifest {path} cannot be used: {error}"
            ) from None
        return cls(
            options=options,
            runtime=runtime,
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
    action: str = "-c",
) -> list[str]:
    """Return the command that compiles one C++ file into an object; with the action ``-E``, that preprocesses it."""
    folders = [*include, verilator.root / "include", verilator.root / "include" / "vltstd"]
    flags = [optimisation, *_FLAGS, *manifest.defines(), *(f"-I{folder}" for folder in folders)]
    # Messages of the runtime name files of Verilator: the same object is made wherever these are.
    flags.append(f"-fmacro-prefix-map={verilator.root}=verilator")
    return [str(verilator.compiler), *flags, action, str(source), "-o", str(output)]


def own_objects(folder: Path) -> tuple[Path, Path]:
    """Return the objects of cocotb's main program and of the bulk path, which need what ``native/design.cpp`` has."""
    return folder / "main.o", folder / "bulk.o"


def home_in(cache: Path) -> Path:
    """Return the folder of all runtimes in the folder ``cache``."""
    return cache / "runtime"


def home() -> Path:
    """Return the folder of all runtimes in the cache."""
    return home_in(tools.cache_dir())


def installed_home() -> Path:
    """Return the folder of the runtimes that belong to this installation of Python and its packages."""
    return Path(sys.prefix) / "dais-verif-runtime"


def key_of(*, waves: bool = False, coverage: bool = False) -> str:
    """Return the hash of everything that goes into a runtime."""
    return _key(tools.verilator(), verilator_options(waves=waves, coverage=coverage))


def find(
    *, waves: bool = False, coverage: bool = False, installed: bool = True, cache: Path | None = None
) -> Path | None:
    """Return the folder of a compiled runtime: the installed one, else the one in a cache; None if there is none.

    ``installed``: the installed one may be used. ``cache``: the folder of all runtimes in the cache; None: ``home``.
    """
    key = key_of(waves=waves, coverage=coverage)
    folder = installed_home() / key
    if installed and os.environ.get(PARANOID, "0") in ("", "0") and os.path.lexists(folder):
        why = why_unsafe(folder) or (None if intact(folder) else f"{folder} was changed")
        if why is None:
            return folder
        _warn(f"the installed Verilator runtime is not used: {why}; run: {_SETUP}")
    cached = (cache or home()) / key
    return cached if intact(cached) else None


def ensure(*, waves: bool = False, coverage: bool = False) -> Path:
    """Return the folder of the runtime's objects; compile them unless this machine has an intact one."""
    found = find(waves=waves, coverage=coverage)
    if found is not None:
        return found
    try:
        return _compiled(home(), waves=waves, coverage=coverage)
    except OSError as error:
        raise SimulatorFailure(
            f"Verilator's runtime cannot be kept in {home()}: {error.strerror};"
            " set DAIS_VERIF_CACHE to a folder that is writable"
        ) from error


def install() -> None:
    """Compile all variants of the runtime into the installation, unless they are there; remove outdated ones.

    If the installation cannot be written, the plain runtime is compiled into the cache.
    """
    place = installed_home()
    try:
        place.mkdir(exist_ok=True)
        if not place.is_symlink():
            place.chmod(0o755)
        made = [_compiled(place, waves=waves, coverage=coverage) for waves, coverage in _VARIANTS]
        unsafe = [why for folder in made if (why := why_unsafe(folder)) is not None]
        if unsafe:
            raise SimulatorFailure(
                f"the Verilator runtime in {place} would not be safe: {unsafe[0]}; remove that folder"
            )
        for entry in [entry for entry in place.iterdir() if entry.is_dir() and entry not in made]:
            _remove(entry)
    except PermissionError:
        _warn(f"Verilator's runtime is compiled into the cache, because {place} cannot be written")
        ensure()


def why_unsafe(folder: Path) -> str | None:
    """Return how a user other than those who control the installation could have changed ``folder``; else None.

    It and its files must belong to this user, to root or to the owner of the installation, who alone can write them.
    """
    owners = _owners()
    try:
        for path in (folder.parent, folder, *sorted(folder.iterdir())):
            facts = path.lstat()
            expected = stat.S_ISDIR if path in (folder.parent, folder) else stat.S_ISREG
            if not expected(facts.st_mode):
                return f"{path} is a link or a file of another kind"
            if facts.st_uid not in owners:
                return f"{path} belongs to another user"
            if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return f"others can write {path}"
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror}"
    return None


def _owners() -> set[int]:
    return {0, os.getuid(), os.stat(sys.prefix).st_uid}


def digest(folder: Path) -> str:
    """Return the hash of the names and contents of a runtime's objects, which become part of every simulation."""
    lines = (f"{sha256}  {name}\n" for name, sha256 in sorted(_hashes(folder).items()) if name.endswith(".o"))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _compiled(place: Path, *, waves: bool, coverage: bool) -> Path:
    """Return the folder of an intact runtime in ``place``; compile it, under a lock, if there is none."""
    import filelock  # imported late: loading takes longer than the rest of this function

    folder = place / key_of(waves=waves, coverage=coverage)
    place.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder.with_name(folder.name + ".lock")):
        if not intact(folder):
            for left_over in place.glob(f"{folder.name}-*"):
                shutil.rmtree(left_over, ignore_errors=True)
            announce(waves=waves, coverage=coverage)
            unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=place))
            _build(tools.verilator(), unfinished, verilator_options(waves=waves, coverage=coverage))
            _seal(unfinished)
            _remove(folder)
            unfinished.rename(folder)
    return folder


def _warn(text: str) -> None:
    print(f"dais-verif: {text}", file=sys.stderr, flush=True)


def announce(*, waves: bool, coverage: bool) -> None:
    """Print why the run takes longer: the first build needs an additional half minute."""
    what = [*["waves"] * waves, *["coverage"] * coverage]
    kind = f" with {' and '.join(what)}" if what else ""
    _warn(f"compiling Verilator's runtime{kind}, which is kept for later runs; it takes 10 to 40 s")


def intact(folder: Path) -> bool:
    """Return True if ``folder`` holds a runtime, all files of which are unchanged."""
    try:
        seal = json.loads((folder / _SEAL).read_bytes())
        return bool(seal) and seal == _hashes(folder)
    except (OSError, ValueError):
        return False


def clear() -> int:
    """Remove all runtimes, and return their size in bytes. Running builds may fail."""
    size = 0
    for folder in home().iterdir() if home().is_dir() else ():
        if _OURS.fullmatch(folder.name) and folder.is_dir():
            size += sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            _remove(folder)
    return size


def _seal(folder: Path) -> None:
    """Write the hashes of all files of ``folder``, which from then on every user can read and only its owner write."""
    (folder / _SEAL).write_text(json.dumps(_hashes(folder)), encoding="utf-8")
    for path in folder.iterdir():
        path.chmod(0o644)
    folder.chmod(0o755)


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.name != _SEAL and not path.is_dir())
    return {path.name: sha256_of(path) for path in files}


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
        raise SimulatorFailure(
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
    texts = {Path(f"{source.stem}.ii"): source for source in manifest.runtime}
    session.check(
        "g++",
        *(
            compile_command(verilator, manifest, source, text, OPTIMISATION, action="-E")
            for text, source in texts.items()
        ),
        jobs=os.cpu_count() or 1,
    )
    made_of = {text.with_suffix(".o").name: _of_text(verilator, folder / text) for text in texts}
    copied = _copy_others(made_of, folder)
    main, bulk = own_objects(Path())
    commands = [
        compile_command(verilator, manifest, tools.cocotb_main(), main, OPTIMISATION, include=[NATIVE]),
        compile_command(verilator, manifest, NATIVE / "bulk.cpp", bulk, OPTIMISATION),
        compile_command(verilator, manifest, Path(HEADERS), Path(f"{HEADERS}.gch"), OPTIMISATION, include=[NATIVE]),
        *(
            compile_command(verilator, manifest, text, text.with_suffix(".o"), OPTIMISATION)
            for text in texts
            if text.with_suffix(".o").name not in copied
        ),
    ]
    session.check("g++", *commands, jobs=os.cpu_count() or 1)
    (folder / _OPTIONS).write_text(json.dumps(manifest.options), encoding="utf-8")
    (folder / _TEXTS).write_text(json.dumps(made_of), encoding="utf-8")
    shutil.rmtree(folder / "design")  # no build reads this file
    for text in texts:
        (folder / text).unlink()


def _of_text(verilator: tools.VerilatorTools, text: Path) -> str:
    """Return the hash of a preprocessed text, and of all else that determines its object."""
    options = [verilator.compiler_version, OPTIMISATION, *_FLAGS]
    return hashlib.sha256("\0".join(options).encode() + text.read_bytes()).hexdigest()


def _copy_others(made_of: Mapping[str, str], folder: Path) -> set[str]:
    """Copy objects of the same text from the runtimes beside ``folder``, and return the names of these objects.

    Variants of the runtime differ in few objects.
    """
    copied = set[str]()
    for other in folder.parent.iterdir():
        if other == folder or not other.is_dir() or not intact(other) or why_unsafe(other) is not None:
            continue
        if not (other / _TEXTS).is_file():  # a runtime of a version that did not keep what its objects were made of
            continue
        theirs = json.loads((other / _TEXTS).read_bytes())
        for name, text in made_of.items():
            if name not in copied and theirs.get(name) == text:
                shutil.copyfile(other / name, folder / name)
                copied.add(name)
    return copied


def _key(verilator: tools.VerilatorTools, options: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in (
        verilator.version,
        verilator.compiler_version,
        sha256_of(verilator.compiler),
        _HEADERS_TEXT,
        OPTIMISATION,
        *_FLAGS,
        *options,
    ):
        digest.update(part.encode() + b"\0")
    files = [*(verilator.root / "include").glob("verilated*"), *NATIVE.iterdir(), tools.cocotb_main()]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + bytes.fromhex(sha256_of(path)))
    return digest.hexdigest()[:24]


if __name__ == "__main__":
    install()
