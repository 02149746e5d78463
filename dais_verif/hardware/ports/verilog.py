"""Read Verilog files as simulators do: as one compilation unit, in the given order.

A macro, a directive or a declaration in one file is also valid in the files after it. An included file is searched for
beside the file that includes it, and beside every source, as in the simulators.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.base.files import require_plain
from dais_verif.base.line_directives import FORM_OF_VHDL, without_lines

__all__ = ["included", "included_by", "included_names", "read_files"]

#: The largest size of an RTL file; a million ops take a tenth of it.
_MOST_BYTES = 2 << 30

_INCLUDES = re.compile(rb'`include[ \t]+"([^"\n\0]{1,1000})"')
#: Includes that are nested deeper are left to the tools, which refuse them.
_DEEPEST = 200
_DECIDES = re.compile(rb"`(?:ifndef|ifdef|pragma)\b")

#: Macros that slang defines, but no simulator does; therefore they are undefined here.
_OWN_MACROS = ("__slang__", "__slang_major__", "__slang_minor__")


def read_files(sources: Sequence[Path], manager: Any) -> Any:
    """Return the syntax tree of all ``sources``. ``manager``: a new source manager, which owns their text.

    Raises ``OSError`` if a file cannot be read, and ``InputError`` if tools may read different included files.
    """
    import pyslang
    from pyslang import parsing, syntax

    for source in sources:
        require_plain(source, _MOST_BYTES, "RTL file")
        if not _is_text(str(source.absolute())):
            raise UnsupportedVerilog(f"RTL file {str(source)!r} has a path that is not valid UTF-8; rename it")
    folders = list(dict.fromkeys(source.absolute().parent for source in sources))
    _refuse_endless(sources, folders)
    for folder in folders:
        manager.addUserDirectories(str(folder))
    for source in sources:
        _assign(source, manager)
    options = parsing.PreprocessorOptions()
    options.undefines = list(_OWN_MACROS)
    tree = syntax.SyntaxTree.fromFiles([str(source) for source in sources], manager, pyslang.Bag([options]))
    for name, place, found in _included(tree, manager):
        for folder in (place.parent, *folders):
            other = folder / name
            if other.is_file() and other.read_bytes() != found.read_bytes():
                raise UnsupportedVerilog(
                    f"{place}: {name!r} is included, and {str(found)!r} and {str(other)!r} differ; simulators may read"
                    " another file than synthesis: rename one of them"
                )
    return tree


def _refuse_endless(sources: Sequence[Path], folders: Sequence[Path]) -> None:
    """Raise ``UnsupportedVerilog`` if files include each other and none of them ever decides whether to be read.

    Every tool would read them without end; slang takes all memory for two files that include each other twice.
    """
    texts: dict[Path, bytes] = {}
    path: list[Path] = []
    done: set[Path] = set()

    def visit(file: Path) -> None:
        if file in path:
            round_ = path[path.index(file) :]
            if not any(_DECIDES.search(texts[one]) for one in round_):
                raise UnsupportedVerilog(
                    f"{file}: it includes {round_[1 % len(round_)].name!r}, which leads back to it without end; write"
                    " `ifndef around what a file defines"
                )
            return
        if file in done or len(path) > _DEEPEST or not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return
        texts[file] = file.read_bytes()
        path.append(file)
        for name in _INCLUDES.findall(texts[file]):
            for folder in (file.parent, *folders):
                other = Path(os.path.normpath(os.path.join(folder, os.fsdecode(name))))
                if other.is_file():
                    visit(other)
                    break
        path.pop()
        done.add(file)

    for source in sources:
        visit(Path(os.path.normpath(source.absolute())))


def _assign(source: Path, manager: Any) -> None:
    """Let ``manager`` read ``source`` without the `` `line `` directives of a user; those of VHDL's form are ours."""
    text = source.read_bytes()
    lasting = text if source.name == FORM_OF_VHDL else without_lines(text)
    if lasting != text and _is_utf8(lasting):
        manager.assignText(str(source), lasting.decode())


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def included(tree: Any, manager: Any) -> tuple[Path, ...]:
    """Return the files that ``tree`` includes, even by directives that come from macros."""
    return tuple(dict.fromkeys(found for _, _, found in _included(tree, manager)))


def included_by(sources: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files that ``sources`` include. Raises the errors of ``read_files``."""
    from pyslang import SourceManager

    manager = SourceManager()
    return included(read_files(sources, manager), manager)


def included_names(sources: Sequence[Path]) -> tuple[tuple[str, Path], ...]:
    """Return each name in an include directive of ``sources`` with its file. Raises the errors of ``read_files``."""
    from pyslang import SourceManager

    manager = SourceManager()
    found = _included(read_files(sources, manager), manager)
    return tuple(dict.fromkeys((name, path) for name, _, path in found))


def _included(tree: Any, manager: Any) -> Iterator[tuple[str, Path, Path]]:
    """Yield for each include directive its file name, the file that contains it, and the file that was read."""
    for directive in tree.getIncludeDirectives():
        place = manager.getFullyOriginalLoc(directive.syntax.sourceRange.start)
        found = Path(manager.getFullPath(directive.buffer.id))
        if found.is_file():  # a file that cannot be opened is an error in the tree
            yield str(directive.path), Path(manager.getFullPath(place.buffer)), found
