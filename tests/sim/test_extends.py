"""Our sign extension agrees with Verilator's for every width and every value that a signal of that width can have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dais_verif.base.toolchain import tools, verilator_runtime

#: Every value up to 16 bits; for more bits the extreme values, their neighbours, and 10,000 random values.
COMPARISON = """
#include "verilated.h"
static IData their_i(int bits, IData value) { return VL_EXTENDS_II(32, bits, value); }
static QData their_qi(int bits, QData value) { return VL_EXTENDS_QI(64, bits, value); }
static QData their_qq(int bits, QData value) { return VL_EXTENDS_QQ(64, bits, value); }
#include "extends.h"
#ifndef VL_EXTENDS_II
#error "Verilator's own are compared with themselves"
#endif
#include <cstdio>

static long long compared = 0, different = 0;

static void compare(int bits, QData value) {
    const QData mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
    value &= mask;
    if (bits <= 32) {
        const IData narrow = static_cast<IData>(value);
        different += VL_EXTENDS_II(32, bits, narrow) != their_i(bits, narrow);
        different += VL_EXTENDS_QI(64, bits, narrow) != their_qi(bits, narrow);
    }
    different += VL_EXTENDS_QQ(64, bits, value) != their_qq(bits, value);
    ++compared;
}

int main() {
    QData random = 88172645463325252ULL;
    for (int bits = 1; bits <= 64; ++bits) {
        for (QData value = 0; bits <= 16 && value < 1ULL << bits; ++value) compare(bits, value);
        for (int bit = 0; bit < bits; ++bit)
            for (int near = -2; near <= 2; ++near) compare(bits, (1ULL << bit) + near);
        for (int k = 0; k < 10000; ++k) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            compare(bits, random);
        }
    }
    std::printf("%lld %lld", compared, different);
}
"""


@pytest.fixture
def compared(tmp_path: Path) -> list[int]:
    """Return the number of compared values and the number of comparisons that failed."""
    (tmp_path / "compare.cpp").write_text(COMPARISON)
    found, common = tools.verilator(), verilator_runtime.ensure()
    include = found.root / "include"
    folders = [f"-I{folder}" for folder in (verilator_runtime.NATIVE, include, include / "vltstd")]
    objects = [str(common / f"{name}.o") for name in ("verilated", "verilated_threads")]
    options = ["-std=gnu++17", "-pthread", verilator_runtime.OPTIMISATION, "-DVERILATOR=1"]
    command = [str(found.compiler), *options, *folders, "compare.cpp", *objects, "-o", "compare"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "compare"], capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


def test_sign_extension_is_that_of_verilator(compared: list[int]) -> None:
    values, different = compared
    assert values > 2**17
    assert different == 0
