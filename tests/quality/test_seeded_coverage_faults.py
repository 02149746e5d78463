"""Faults seeded in the coverage counting of the kernel are found."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import random
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.coverage_cases import names
from support.slow_coverage import hit_bins

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program, random_rows
from dais_verif.coverage.bins import bins_of
from dais_verif.coverage.count import count_batch
from dais_verif.golden import fast
from dais_verif.golden.coverage_probes import CoverageProbes
from dais_verif.spec.program.numbers import Batch, Column

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kernel")]

KERNEL = Path(fast.__file__).parent / "kernel"

#: The file, a text in it, and its faulty replacement.
BUGS = {
    "none": ("seen.h", "static int FN(some)", "static int FN(some)"),
    "ones for zeros": ("seen.h", "SEE(seen + j, ~p[w]);", "SEE(seen + j, p[w]);"),
    "rows that are not there": ("seen.h", "(__VA_ARGS__) & valid[w]", "(__VA_ARGS__)"),
    "the last row is not there": ("seen.h", "io->count % 8) - 1)", "(io->count - 1) % 8) - 1)"),
    "zero is any bit 0": ("seen.h", "if (whole) EACH any[w] |= p[w];", "if (whole) EACH any[w] = p[w];"),
    "negative is positive": ("seen.h", "any[w] & ~top[w]", "any[w]"),
    "closed too soon": ("seen.h", "*closed = !open;", "*closed = 1;"),
    "closed by one half": ("seen.h", "SAW(seen) && SAW(seen + 1) && SAW(seen + 2)", "SAW(seen) || SAW(seen + 1)"),
    "the other condition": ("seen.h", "SEE(seen, differs[w] & condition[w])", "SEE(seen, differs[w] & ~condition[w])"),
    "the next entry": ("seen.h", "__atomic_store_n(seen + index[row]", "__atomic_store_n(seen + index[row] / 2"),
    "no sign above the type": ("watch.h", "put_pair(&words, exact.ext, sign);", ""),
    "nothing below the type": ("watch.h", "p < min64(lo, end_of(&exact))", "p < min64(lo, end_of(&exact)) - 1"),
    "the relu's operand": ("watch.h", "? rectified(l, t) : t", "? t : t"),
    "the other arm": ("watch.h", "chosen(l, msb, a, b)", "chosen(l, msb, b, a)"),
    "dead ops are left out": ("lower.h", "p->checked || p->places ? n", "p->checked ? n"),
}


def built(folder: Path, bug: str) -> Any:
    """Compile the kernel with ``bug`` and return it as a module."""
    shutil.copytree(KERNEL, folder / "kernel")
    name, old, new = BUGS[bug]
    source = folder / "kernel" / name
    text = source.read_text()
    assert text.count(old) == 1, f"{name}: {old}"
    source.write_text(text.replace(old, new))
    library = folder / f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    options = ["-O1", "-w", "-std=gnu11", "-shared", "-fPIC", "-DSOURCE_HASH=seeded", f"-I{include}"]
    subprocess.run(["gcc", *options, str(folder / "kernel" / "kernel.c"), "-o", str(library)], check=True)
    loader = importlib.machinery.ExtensionFileLoader("_kernel", str(library))
    spec = importlib.util.spec_from_loader("_kernel", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def first_difference(programs: int) -> int | None:
    """Return the seed of the first random program whose bins differ from those of the slow counter; None if none do."""
    for seed in range(programs):
        rng = random.Random(seed)
        program = random_program(rng, rng.choice((4, 8, 12)), widest=rng.choice((4, 8)))
        distinct = Batch.of(random_rows(rng, program, 2), program.n_in)
        # The first vector fills a whole pass of the kernel; the other one is in the last row of the next pass.
        order = np.zeros(2048 + rng.randint(1, 40), dtype=np.intp)
        order[-1] = 1
        batch = Batch(len(order), tuple(Column(c.mantissa[order], c.exponent) for c in distinct.columns))
        bins, probes = bins_of(program), CoverageProbes(program, check=False)
        if probes.engine != "fast":
            continue
        seen = bins.nothing()
        count_batch(bins, probes, batch, seen)
        hit = {name for name, is_hit in zip(names(bins), bins.hit(seen).tolist(), strict=True) if is_hit}
        if hit != hit_bins(program, [distinct.row(0), distinct.row(1)]):
            return seed
    return None


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    return lambda module: monkeypatch.setattr(fast, "_load", lambda: fast._Loaded(module, ""))


@pytest.mark.parametrize("bug", BUGS)
def test_a_kernel_that_counts_wrongly_is_caught(bug: str, tmp_path: Path, load: Callable[[Any], None]) -> None:
    load(built(tmp_path, bug))
    with mock.patch.object(fast, "isa", lambda: "base"):
        assert (first_difference(400) is None) == (bug == "none")
