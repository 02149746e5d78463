"""DatapathBench: prove products and sums that a circuit generator has built equal to their meaning as words.

    python -m bench.datapath build/DatapathBench

For every SMT-LIB file of https://github.com/cowardsa/DatapathBench (MIT) below a folder, it prints whether our algebra
and bitwuzla prove it, and the CPU seconds of both. Exit code 1: fewer files are proved than required.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import bitwuzla

from dais_verif.prover import terms as T
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.algebra import holds, meaning_of, number_of
from dais_verif.prover.gates.bit_blasting import blast
from dais_verif.prover.terms import Term

__all__ = ["main"]

#: The number of the 44 files that must be proved, and the CPU seconds for each.
_WANTED, _SECONDS = 36, 10.0

_DECLARED = re.compile(r"\(declare-const (\S+) \(_ BitVec (\d+)\)\)")
_DEFINED = re.compile(r"\s*(?:\(assert )?\(let \(\((\S+) (.*)\)\)$")


class Question(NamedTuple):
    """Variables, and the pairs to be proved equal: words and the circuits that compute them."""

    variables: list[Term]
    pairs: list[tuple[Term, Term]]


def read(text: str) -> Question:
    """Return the question of a file of the benchmark, which has one definition per line."""
    variables = {name: T.var(int(width), name) for name, width in _DECLARED.findall(text)}
    known, pairs = dict(variables), list[tuple[Term, Term]]()
    with T.as_written():
        for line in text.splitlines():
            found = _DEFINED.match(line)
            if found is None:
                continue
            operator, operands = _parts(found[2])
            if operator[0] == "distinct":
                a, b = (_value(x, known) for x in operands)
                pairs.append((a, b))
            elif operator[0] != "or":  # an ``or`` joins the pairs that differ
                known[found[1]] = _applied(operator, [_value(x, known) for x in operands])
    return Question(list(variables.values()), pairs)


def _parts(text: str) -> tuple[list[str], list[str]]:
    """Return an operator with its numbers, and its operands."""
    words = text.strip("()").replace(")", "").split()
    if words[0] != "_" and not text.startswith("(("):
        return words[:1], words[1:]
    words = [word.strip("(") for word in words if word != "(_" and word != "_"]
    numbers = 3 if words[0] == "extract" else 2
    return words[:numbers], words[numbers:]


def _value(text: str, known: dict[str, Term]) -> Term:
    if text.startswith("#b"):
        return T.const(len(text) - 2, int(text[2:], 2))
    if text.startswith("#x"):
        return T.const(4 * (len(text) - 2), int(text[2:], 16))
    return known[text]


def _applied(operator: list[str], x: list[Term]) -> Term:
    name = operator[0]
    if name == "extract":
        high, low = map(int, operator[1:])
        return T.extract(x[0], low, high - low + 1)
    if name == "repeat":
        return T.concat(*x * int(operator[1]))
    if name == "bvugt":
        return T.ult(x[1], x[0])
    rules = {"bvand": T.band, "bvxor": T.bxor, "bvadd": T.add, "bvmul": T.mul, "bvneg": T.neg, "concat": T.concat}
    return {**rules, "=": T.eq, "ite": T.ite}[name](*x)


def proved(question: Question) -> bool:
    """Return whether every circuit is proved to be equal to its word."""
    graph = Aig()
    words = {x: [graph.input() for _ in range(x.width)] for x in question.variables}
    given = {x: number_of(word) for x, word in words.items()}
    for wanted, circuit in question.pairs:
        number = meaning_of(wanted, given, lambda t: blast(graph, [t], words)[0])
        (bits,) = blast(graph, [circuit], words)
        if not holds(graph, bits, number.polynomial, 0):
            return False
    return True


def _by_bitwuzla(path: Path) -> bool:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * _SECONDS))
    terms = bitwuzla.TermManager()
    parser = bitwuzla.Parser(terms, options)
    parser.parse(str(path), True)
    solver = bitwuzla.Bitwuzla(terms, options)
    for assertion in parser.bitwuzla().get_assertions():
        solver.assert_formula(assertion)
    return solver.check_sat() is bitwuzla.Result.UNSAT


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", action=argparse.BooleanOptionalAction, default=True, help="run bitwuzla, too")
    asked = parser.parse_args(arguments)
    files = sorted(asked.folder.rglob("*.smt2"))
    good = peer = 0
    print("| question | here | bitwuzla |\n|---|---|---|")
    for path in files:
        start = time.process_time()
        ours = proved(read(path.read_text()))
        seconds = time.process_time() - start
        good += ours and seconds <= _SECONDS
        start = time.process_time()
        theirs = asked.peer and _by_bitwuzla(path)
        peer += theirs
        other = (
            f"{'proved' if theirs else 'no answer'}, {time.process_time() - start:.1f} s" if asked.peer else "not asked"
        )
        print(f"| {path.stem} | {'proved' if ours else 'no answer'}, {seconds:.2f} s | {other} |", flush=True)
    print(
        f"\nProved {good} of {len(files)} within {_SECONDS:g} s each; bitwuzla {peer if asked.peer else 'not asked'}."
    )
    return 0 if good >= min(_WANTED, len(files)) and files else 1


if __name__ == "__main__":
    sys.exit(main())
