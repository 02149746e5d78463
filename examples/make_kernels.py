"""Make the example kernels: `make examples`, or `python examples/make_kernels.py`."""

from __future__ import annotations

from pathlib import Path

from dais_verif.spec.program import Program, write_binary

HERE = Path(__file__).parent / "kernels"


def print_test() -> Program:
    """Return the variables of the `printf` example in Habana's document as constants; output 0 is the first."""
    values = [
        (0xFF, (0, 8, 0)),  # char_val and uchar_val
        (0xB221, (0, 16, 0)),  # short_val and ushort_val
        (0x8455CDD1, (0, 32, 0)),  # int_val and uint_val
        (185, (0, 6, 2)),  # bf16_val: 46.25
        (15974248, (0, 4, 20)),  # float_val: the binary32 number next to 15.23423
        *((lane, (0, 6, 0)) for lane in range(64)),  # V_LANE_ID_32
    ]
    return Program.build([(5, -1, -1, raw, kind) for raw, kind in values], [(0, 0, 0)])


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    (HERE / "print_test.bin").write_bytes(write_binary(print_test(), "v1"))
