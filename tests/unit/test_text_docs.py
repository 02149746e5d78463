"""The examples, the table and the grammar of ``docs/programs.md`` agree with the code.

The grammar has no recursion, so it is a regular expression. All sentences drawn from it must assemble, and every
text that assembles must match it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dais_verif.base.errors import ProgramError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.golden import run
from dais_verif.spec.program import LAYOUTS, OPCODES, Program, assemble, load
from dais_verif.spec.program.assembler import KEYWORDS
from dais_verif.spec.program.listing import listing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8").partition("\n## The text form")[2]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


EXAMPLES = blocks("dais")

# examples and the table


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_assemble(text: str) -> None:
    program = assemble(text)
    assert program.n_ops >= 4
    assert assemble(listing(program)).hash == program.hash


def test_the_first_example_computes_what_its_comment_says() -> None:
    assert run(assemble(EXAMPLES[0]), [[-8, -8], [1.25, 0.5], [7.75, 7.75]]).tolist() == [[0], [1.5], [29.5]]


def test_the_table_example_squares() -> None:
    assert run(assemble(EXAMPLES[2]), [[-4], [-1], [3]]).tolist() == [[16, 0, 0], [1, 0, 0], [9, -2.25, 0]]


def test_every_opcode_has_its_row() -> None:
    """Every opcode has a row, and each spelling in the row assembles to that opcode."""
    head = "input x\ntable t = [0]\na = s4.1 input x\nb = s4.1 input x\nc = s4.1 input x\n"
    rows = re.findall(r"^\| (-?\d+) \| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE)
    assert {int(code): name for code, name, _ in rows} == {code: spec.mnemonic for code, spec in OPCODES.items()}
    for code, _, spellings in rows:
        for text in re.findall("`(.*?)`", spellings):
            assert assemble(f"{head}d = s9.3 {text}").ops[3].code == int(code), text


# the grammar

#: The regular expression of each token, as the page gives it.
TOKENS = {
    name: expression.replace(r"\|", "|")
    for name, expression in re.findall(r"^\| `([A-Z]+)` \| `(.*?)` \|", PAGE, re.MULTILINE)
}
RULES = dict(re.findall(r"^(\w+)\s*=\s(.*?) ;$", blocks("ebnf")[0], re.DOTALL | re.MULTILINE))

#: A part of the grammar: ("seq" or "alt", parts), ("opt" or "rep", part), ("word", text), ("token" or "rule", name).
Node = tuple[str, Any]


def parsed(rule: str) -> Node:
    """Parse the right-hand side of a rule."""
    symbols = re.findall(r'"[^"]*"|\w+|[|()\[\]{}]', rule)
    assert "".join(symbols).replace(" ", "") == re.sub(r"\s", "", rule), "nothing of the rule is left out"
    stream = iter([*symbols, ""])
    node, end = _alternatives(stream)
    assert end == ""
    return node


def _alternatives(stream: Iterator[str]) -> tuple[Node, str]:
    """Parse up to a closing bracket or the end, and return that symbol, too."""
    choices: list[list[Node]] = [[]]
    for symbol in stream:
        if symbol in ("", ")", "]", "}"):
            return ("alt", [("seq", parts) for parts in choices]), symbol
        if symbol == "|":
            choices.append([])
        elif symbol in "([{":
            node, closing = _alternatives(stream)
            assert symbol + closing in ("()", "[]", "{}")
            choices[-1].append({"(": node, "[": ("opt", node), "{": ("rep", node)}[symbol])
        elif symbol[0] == '"':
            choices[-1].append(("word", symbol[1:-1]))
        else:
            choices[-1].append(("token" if symbol in TOKENS else "rule", symbol))
    raise AssertionError("the rule ends within brackets")


GRAMMAR = {name: parsed(rule) for name, rule in RULES.items()}


@cache
def pattern(name: str) -> str:
    """Return the regular expression of a rule, in which a space follows each token."""
    return _pattern(GRAMMAR[name])


def _pattern(node: Node) -> str:
    kind, part = node
    if kind in ("alt", "seq"):
        return "(?:" + ("|" if kind == "alt" else "").join(map(_pattern, part)) + ")"
    if kind in ("opt", "rep"):
        return f"{_pattern(part)}{'?' if kind == 'opt' else '*'}"
    if kind == "word":
        return re.escape(part) + " "
    return f"(?:{TOKENS[part]}) " if kind == "token" else pattern(part)


def spaced(statement: str) -> str:
    """Return ``statement`` with a space after every token."""
    token = "|".join(TOKENS[name] for name in ("TYPE", "NAME", "VALUE", "DECIMAL", "INTEGER")) + "|<<|>>|."
    return "".join(f"{match.group()} " for match in re.finditer(token, statement) if match.group().strip())


#: Statements before a drawn one, which declare the names and numbers that it may use.
PRELUDE = "input n, m\ntable n = [0, 1]\ntable m = []\nn = s8.3 input n\noutput n = n\noutput m = 0\n"
DRAWN = {
    "NAME": ["n"],
    "VALUE": ["%0"],
    "TYPE": ["s9.3", "u20.5"],
    "INTEGER": ["0", "1", "0x1"],
    "DECIMAL": ["1.5", "0.0"],
}


def drawn(rng: random.Random, node: Node) -> list[str]:
    kind, part = node
    if kind == "alt":
        return drawn(rng, rng.choice(part))
    if kind == "seq":
        return [word for inner in part for word in drawn(rng, inner)]
    if kind in ("opt", "rep"):
        return [word for _ in range(rng.randrange(2 if kind == "opt" else 4)) for word in drawn(rng, part)]
    if kind == "word":
        return [part]
    return [rng.choice(DRAWN[part])] if kind == "token" else drawn(rng, GRAMMAR[part])


def sentence(rng: random.Random) -> str:
    """Draw a statement of the grammar that is valid after ``PRELUDE``."""
    words = drawn(rng, GRAMMAR["statement"])
    if words[0] in ("table", "output"):
        words[1] = rng.choice(("new", "2"))
    elif words[0] == "input":
        number = 1
        for at, word in enumerate(words):
            if at == 0 or word == ",":
                number += 1
                words[at + 1] = rng.choice((f"new{number}", str(number)))
    elif words[0] != "layout":
        words[0] = rng.choice(("new", "%1"))
    return " ".join(words)


def test_keywords_are_the_words_of_the_grammar() -> None:
    assert set(re.findall(r'"([a-z]\w*)"', "".join(RULES.values()))) - set(LAYOUTS) - {"alir", "sum"} == KEYWORDS
    assert set(re.findall(r'"([a-z]\w*)"', RULES["layout"])) >= {*LAYOUTS, "alir"}


def test_every_rule_and_token_is_used() -> None:
    used = set(re.findall(r"\w+", re.sub(r'"[^"]*"', "", " ".join(RULES.values()))))
    assert used == (set(RULES) | set(TOKENS)) - {"statement"}


def test_3_000_sentences_of_the_grammar_assemble() -> None:
    rng = random.Random(1)
    codes: set[int] = set()
    for _ in range(3_000):
        text = sentence(rng)
        program: Program = assemble(text if text.startswith("layout") else PRELUDE + text)
        codes.update(op.code for op in program.ops[1:])
    assert codes == set(OPCODES)


def test_whatever_assembles_is_a_sentence_of_the_grammar() -> None:
    """A text that assembles is a sentence of the grammar.

    The texts are sentences with a token dropped, doubled or replaced by one of another sentence.
    """
    rng, accepted, refused = random.Random(2), 0, 0
    whole = re.compile(pattern("statement"))
    for _ in range(6_000):
        words, others = sentence(rng).split(), sentence(rng).split()
        at = rng.randrange(len(words))
        words[at : at + rng.randrange(2)] = rng.choice(([], [words[at]], [rng.choice(others)]))
        text = " ".join(words)
        try:
            assemble(text if text.startswith("layout") else PRELUDE + text)
        except ProgramError:
            refused += 1
        else:
            accepted += 1
            assert text == "" or whole.fullmatch(spaced(text)), text
    assert accepted > 300 and refused > 1000


def test_every_line_of_a_listing_is_a_sentence(corpus: Path) -> None:
    whole = re.compile(pattern("statement"))
    listings = [listing(random_program(random.Random(seed), 30)) for seed in range(30)]
    listings += [listing(load(corpus / name / "prog.v1.bin")) for name in ("p05_softmax_lut", "p10_bitops")]
    for text in listings:
        text = re.sub(r" *;.*", "", text)
        for line in re.sub(r"\[[^]]*\]", lambda match: match.group().replace("\n", " "), text).splitlines():
            assert line == "" or whole.fullmatch(spaced(line)), line
