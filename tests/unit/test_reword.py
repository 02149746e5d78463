"""Messages are reworded so that tests of their wording fail, and tests of names and numbers pass."""

from __future__ import annotations

import ast

import pytest
from support.reword import _Rewording, reworded


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat has 3 legs", "eht tac sah 3 sgel"),
        ("'the cat' and `the hat`", "'the cat' dna `the hat`"),
        ("latency must fit --top and the_cat.v", "latency tsum tif --top dna the_cat.v"),
    ],
)
def test_plain_words_change_alone(text: str, expected: str) -> None:
    assert reworded(text) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise X(f'the cat {name!r} has {legs} legs')", "raise X(f'eht tac {name!r} sah {legs} sgel')"),
        ("x = 'the cat sleeps' if y else z", "x = 'eht tac speels' if y else z"),
        ("x = 'the cat sleeps' in y", None),
        ("x = re.compile('the cat sleeps')", None),
        ("x = 'the cat'", None),
        ("x = 'assign cat = the hat there'", None),
        ('def f():\n    """The cat and the hat sleep."""', None),
    ],
)
def test_prose_changes_alone(code: str, expected: str | None) -> None:
    tree = ast.parse(code)
    assert ast.unparse(_Rewording(tree).visit(tree)) == (expected or ast.unparse(ast.parse(code)))
