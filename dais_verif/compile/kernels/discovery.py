"""Find libraries of kernels: installed packages by their entry points, and files that a user names.

A library is the ``LIBRARY`` of a module, a ``Library``, or a module with functions ``get_kernel_names`` and
``habana_kernel``. A library that cannot be loaded is reported by name, and does not affect the others.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from dais_verif.base.errors import InputError, KernelLibraryError
from dais_verif.base.text import counted
from dais_verif.compile.kernels import shipped
from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.glue import Answer
from dais_verif.compile.kernels.library import KernelLibrary, KernelNames, Library, names_that_fit
from dais_verif.compile.kernels.structures import (
    MAX_NAME_BYTES,
    NO_BUFFERS,
    DeviceId,
    HabanaKernelInstantiation,
    HabanaKernelParams,
)

__all__ = ["ENTRY_POINTS", "BrokenLibrary", "FoundLibrary", "Libraries", "find_libraries"]

#: The group of entry points under which packages offer libraries.
ENTRY_POINTS = "dais_verif.kernels"
#: The library of this package's entry point.
_OURS = "dais_verif.compile.kernels.shipped:LIBRARY"


@dataclass(frozen=True)
class FoundLibrary:
    """A library and its name; ``where``: its file or package."""

    name: str
    where: str
    library: KernelLibrary


@dataclass(frozen=True)
class BrokenLibrary:
    """A library that cannot be used, and the reason."""

    name: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"library {self.name} ({self.where}) is left out: {self.why}"


@dataclass(frozen=True)
class Libraries:
    """All libraries as one. A kernel is selected by its name, or by ``library/name`` if several have that name."""

    found: tuple[FoundLibrary, ...]
    broken: tuple[BrokenLibrary, ...] = ()

    def get_kernel_names(self, device: int = DeviceId.GAUDI, max_count: int = 0) -> KernelNames:
        """Return the names of all kernels for a device, with the library if several have the name."""
        listed = [(one.name, name) for one in self.found for name in _names(one.library, device)]
        often = Counter(name for _, name in listed)
        return names_that_fit([name if often[name] == 1 else f"{of}/{name}" for of, name in listed], max_count)

    def habana_kernel(self, params: HabanaKernelParams, instance: HabanaKernelInstantiation = NO_BUFFERS, /) -> Answer:
        """Answer a request by the library that has the kernel. The answer to an ambiguous name is NODE_NOT_FOUND."""
        having, plain = self._having(params.node_name)
        if len(having) != 1:
            why = _ambiguous(plain, having) if having else ""
            return GlueCode.NODE_NOT_FOUND, HabanaKernelInstantiation(failure=why)
        return having[0].library.habana_kernel(replace(params, node_name=plain), instance)

    def find(self, name: str) -> tuple[FoundLibrary, str]:
        """Return the library of a kernel, and the kernel's name in it. Raises ``InputError`` for none or several."""
        having, plain = self._having(name)
        if len(having) == 1:
            return having[0], plain
        if having:
            raise KernelLibraryError(_ambiguous(plain, having))
        out = "".join(f"; {one}" for one in self.broken)
        near = get_close_matches(plain, [known for one in self.found for known in _names(one.library, DeviceId.GAUDI)])
        meant = f": did you mean {near[0]}?" if near else ""
        raise KernelLibraryError(f"no library has a kernel {name!r}{meant}; kernel list lists all{out}")

    def _having(self, name: str) -> tuple[list[FoundLibrary], str]:
        library, slash, plain = name.partition("/")
        if not slash:
            return [one for one in self.found if _has(one.library, name)], name
        return [one for one in self.found if one.name == library and _has(one.library, plain)], plain


def _ambiguous(name: str, having: Sequence[FoundLibrary]) -> str:
    return f"several libraries have a kernel {name!r}: name it {' or '.join(f'{one.name}/{name}' for one in having)}"


def _has(library: KernelLibrary, name: str) -> bool:
    """Return True if a library has a kernel ``name``, listed or not, by its answer to a request without tensors."""
    return library.habana_kernel(HabanaKernelParams(name), NO_BUFFERS)[0] != GlueCode.NODE_NOT_FOUND


def _names(library: KernelLibrary, device: int) -> tuple[str, ...]:
    return library.get_kernel_names(device, library.get_kernel_names(device, 0).number).names


def find_libraries(files: Sequence[str | Path] = (), *, installed: bool = True) -> Libraries:
    """Return the libraries of ``files``, Python files, and those of ``installed`` packages.

    Raises ``InputError`` for a file that does not exist; files that cannot be used are listed in ``broken``.
    """
    candidates: list[_Candidate] = []
    for file in map(Path, files):
        if not file.is_file():
            raise KernelLibraryError(f"there is no library {str(file)!r}: name a Python file with a LIBRARY")
        candidates.append(_Candidate(file.stem, str(file), file))
    candidates += _installed() if installed else ()
    found: dict[str, FoundLibrary] = {}
    broken: list[BrokenLibrary] = []
    for one in candidates:
        try:
            if one.name in found:
                raise KernelLibraryError(f"another library is called {one.name}, from {found[one.name].where}")
            found[one.name] = FoundLibrary(one.name, one.where, _checked(one.load()))
        except (Exception, SystemExit) as error:  # an error of its code must not affect other libraries
            broken.append(BrokenLibrary(one.name, one.where, _in_a_line(error)))
    return Libraries(tuple(found.values()), tuple(broken))


@dataclass(frozen=True)
class _Candidate:
    """A possible library, before any of its code runs."""

    name: str
    where: str
    source: Path | EntryPoint | Library

    def load(self) -> object:
        if isinstance(self.source, Library):
            return self.source
        return self.source.load() if isinstance(self.source, EntryPoint) else _from_file(self.source)


def _installed() -> Iterator[_Candidate]:
    # The library of this package is also found in a source tree that is not installed.
    yield _Candidate(shipped.LIBRARY.name, f"dais-verif, {_OURS}", shipped.LIBRARY)
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        if entry.value == _OURS:
            continue
        package = entry.dist.name if entry.dist else "an unknown package"
        yield _Candidate(entry.name, f"{package}, {entry.value}", entry)


def _from_file(path: Path) -> ModuleType:
    """Load the module of a file under a unique name."""
    name = f"_dais_verif_kernels_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise KernelLibraryError("a library is a Python file, named .py")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module here.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _checked(loaded: object) -> KernelLibrary:
    """Return the loaded library. Raises ``InputError`` if its entry points do not follow the interface."""
    library = getattr(loaded, "LIBRARY", loaded) if isinstance(loaded, ModuleType) else loaded
    if not isinstance(library, KernelLibrary):
        raise KernelLibraryError("it has neither a LIBRARY nor functions get_kernel_names and habana_kernel")
    code, number, names = library.get_kernel_names(DeviceId.GAUDI, 0)
    code_again, number_again, names = library.get_kernel_names(DeviceId.GAUDI, number)
    if (code, code_again, number_again, len(names)) != (GlueCode.SUCCESS, GlueCode.SUCCESS, number, number):
        raise KernelLibraryError(f"it states {counted(number, 'kernel')}, but lists {len(names)}")
    for name in names:
        if not 0 < len(name.encode()) <= MAX_NAME_BYTES or "/" in name:
            raise KernelLibraryError(
                f"one of its kernels is called {name!r}: a name has 1 to {MAX_NAME_BYTES} bytes and no '/'"
            )
    if len(set(names)) < number:
        raise KernelLibraryError("two of its kernels have the same name")
    return library


def _in_a_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or "no reason was given"
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
