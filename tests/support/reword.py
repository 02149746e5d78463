"""Reword the messages of the package as it is imported, to find the tests that depend on their wording.

With ``DAIS_TESTS_REWORD=1``, plain words of all prose in the package are spelled backwards: of errors, findings,
printed lines and help. Names, quoted parts and numbers stay, so that a test that asserts these passes, and a test that
asserts a sentence fails. Processes that tests start reword as well, unless they set ``PYTHONPATH``.

What is prose is guessed: a text of three words or more that looks like no code. Texts that are compared with others,
or that are patterns, stay.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.abc
import importlib.machinery
import marshal
import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

__all__ = ["ASKED", "install", "reworded"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "dais_verif"
CACHE = ROOT / "build" / "reworded"
ASKED = os.environ.get("DAIS_TESTS_REWORD") == "1"

#: What holds few messages, but names of bins, words of SQLite, emitted RTL, text that is compared with pages, and names
#: of verbs.
_LEFT = (
    *("coverage", "base/database.py", "hardware/emitter", "doors/troubleshooting_page.py", "prover/slang/kinds"),
    "doors/cli/schema.py",
)
#: Calls and methods whose arguments are patterns, names or code.
_NO_MESSAGE = {"compile", "match", "search", "fullmatch", "sub", "split", "replace", "startswith", "endswith"}
_PROSE = re.compile(r"(?<![\w-])[a-z]{2,}(?: [a-z]{2,}){2}(?![\w-])")
_CODE = re.compile(
    r"<=|\(\);|@\(|\$|//|\w = \w|#include|</|--\w+=|\bimport \w+[;\n]|\bfrom \S+ import\b"
    r"|\bendmodule\b|\b(begin|wire|assign) |\barchitecture \w+ of "
)
#: Words of prose that are also names somewhere.
_COMMON = """
after again against all also and because before both built changed could do due each everything first for found from
given held how in is its least less made most must next no none not of on once only or out outside same short shown
than that the then they to up used wanted what where which who why with within without write written wrong
"""
_QUOTED = re.compile(r"""`[^`]*`|'[^']*'|"[^"]*"|\S*[^a-z\s,;:.()]\S*""")
_WORD = re.compile(r"(?<![\w{}%$./\\-])[a-z]{3,}(?![\w{}%$/\\=-]|\.\w)")


@cache
def names() -> frozenset[str]:
    """Return the words that are names for users: of arguments, options and their values, verbs, fields of records."""
    found = {path.stem for path in (PACKAGE / "doors" / "cli").glob("*.py")}
    for folder in ("doors/api", "doors/cli", "verbs", "record"):
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.arg(arg=name) if folder == "doors/api":
                        found.add(name)
                    case ast.AnnAssign(target=ast.Name(id=name)) if folder in ("verbs", "record"):
                        found.add(name)
                    case ast.Constant(value=str(name)) if folder == "doors/cli" and re.fullmatch(
                        r"-*[a-z]+(-[a-z]+)*", name
                    ):
                        found.update(re.findall(r"[a-z]+", name))
    return frozenset(found - set(_COMMON.split()))


def reworded(text: str) -> str:
    """Return ``text`` with its plain words spelled backwards."""
    kept = names()
    parts = []
    place = 0
    for quoted in (*_QUOTED.finditer(text), None):
        end = quoted.start() if quoted else len(text)
        parts.append(_WORD.sub(lambda word: word[0] if word[0] in kept else word[0][::-1], text[place:end]))
        if quoted:
            parts.append(quoted[0])
            place = quoted.end()
    return "".join(parts)


class _Rewording(ast.NodeTransformer):
    """Reword the prose of a module: all text in errors that are raised, and elsewhere what looks like prose."""

    def __init__(self, tree: ast.Module) -> None:
        self._raised = False
        compared = (node for node in ast.walk(tree) if isinstance(node, ast.Compare))
        sides = (side for node in compared for side in (node.left, *node.comparators) if isinstance(side, ast.Name))
        self._compared = {side.id for side in sides if side.id.isupper()}

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self._raised = True
        self.generic_visit(node)
        self._raised = False
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node if any(ast.unparse(base).endswith("Enum") for base in node.bases) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        kept = any(isinstance(target, ast.Name) and target.id in self._compared for target in node.targets)
        return node if kept else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.body = [self.visit(line) for line in node.body]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return node if called in _NO_MESSAGE else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.copy_location(ast.Constant(reworded(node.value)), node) if self._is_prose(node.value) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        whole = "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
        if self._is_prose(whole):
            for part in node.values:
                if isinstance(part, ast.Constant):
                    part.value = reworded(part.value)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return node

    def _is_prose(self, text: object) -> bool:
        if not isinstance(text, str) or " " not in text or _CODE.search(text):
            return False
        return self._raised or bool(_PROSE.search(text))


class _Loader(importlib.machinery.SourceFileLoader):
    """Load a module with its prose reworded; code is kept in a cache of its own."""

    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.get_filename(fullname))
        source = path.read_bytes()
        kept = CACHE / f"{hashlib.sha256(b'%s%s%s' % (source, str(path).encode(), _own())).hexdigest()}.code"
        if kept.exists():
            code: CodeType = marshal.loads(kept.read_bytes())
            return code
        tree = ast.parse(source)
        if not path.relative_to(PACKAGE).as_posix().startswith(_LEFT):
            tree = ast.fix_missing_locations(_Rewording(tree).visit(tree))
        code = compile(tree, str(path), "exec", dont_inherit=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_bytes(marshal.dumps(code))
        written.replace(kept)
        return code


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "dais_verif":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if (
            spec is not None
            and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
            and Path(spec.loader.path).is_relative_to(PACKAGE)  # not a package of a test that has the same name
        ):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


@cache
def _own() -> bytes:
    """Return what the reworded code depends on but for the module itself."""
    named = ",".join(sorted(names())).encode()
    return hashlib.sha256(Path(__file__).read_bytes() + named + sys.version.encode()).digest()


def install() -> None:
    """Reword the package in this process, which must not have imported it, and in the processes that it starts."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    CACHE.mkdir(parents=True, exist_ok=True)
    start = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('dais_reword', {__file__!r})\n"
        "module = sys.modules['dais_reword'] = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "module.install()\n"
    )
    (CACHE / "sitecustomize.py").write_text(start, encoding="utf-8")
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(CACHE)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(CACHE), *before])


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts of a module with what they become; for a look at what is reworded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    before = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)]
    changed = _Rewording(tree).visit(tree)
    after = [ast.unparse(node) for node in ast.walk(changed) if isinstance(node, ast.Constant | ast.JoinedStr)]
    yield from ((old, new) for old, new in zip(before, after, strict=True) if old != new)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for old, new in _messages(Path(name)):
            print(f"{name}\n  {old}\n  {new}")
