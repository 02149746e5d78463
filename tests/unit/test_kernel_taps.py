"""Messages of members: the golden model and machines print values inside a block; files are read strictly."""

from __future__ import annotations

import importlib.util
import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kernel_instances import S5
from support.kernel_instances import instance as shipped
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.caller import instantiate
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.instance import KernelInstance, instance_of, require_ports
from dais_verif.compile.kernels.library import Library
from dais_verif.compile.kernels.printf import Printf, PrintfTap, dword_of, require_taps
from dais_verif.compile.kernels.program_kernel import read_own_kernel
from dais_verif.compile.kernels.shipped import LIBRARY
from dais_verif.compile.kernels.structures import HabanaKernelParams, ProgramFlags, Tensor
from dais_verif.compile.kernels.tpc_lib import instantiation_from_tpc, instantiation_to_tpc
from dais_verif.golden.members import print_instance, run_instance
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.spec.program import FixedType, Program, write_binary
from dais_verif.verbs.kernels.build import read_instance

EXAMPLES = Path(__file__).parents[2] / "examples"
#: The output of the example in the document.
EXPECTED = """Test string!
char value is -1
unsigend char value is 255
short value is -19935
unsigend short value is 45601
int value is -2074751535
unsigend int value is 2220215761
bfloat value is 46.250000
float value is 15.234230
Vector Print:
=============
""" + "".join(f"{lane}, " for lane in range(64))


@pytest.fixture(scope="module")
def example() -> KernelInstance:
    return read_own_kernel(EXAMPLES / "kernels" / "print_test.toml")


class TestExample:
    def test_golden_prints_what_the_document_says(self, example: KernelInstance) -> None:
        assert print_instance(example, []).texts == [[EXPECTED]]

    def test_its_program_is_that_of_the_script(self) -> None:
        spec = importlib.util.spec_from_file_location("make_kernels", EXAMPLES / "make_kernels.py")
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        assert (EXAMPLES / "kernels" / "print_test.bin").read_bytes() == write_binary(made.print_test(), "v1")


def tapped(*taps: PrintfTap) -> KernelInstance:
    """Return x + y over 2 times 3 elements, with ``taps``."""
    one = shipped("add", [Tensor.of(S5, 2, 3)] * 2, (2, 3))
    return replace(one, taps=taps)


SUM = PrintfTap("sum %f\n", output=0)
X, Y = np.arange(6).reshape(1, 3, 2) - 3, np.full((1, 3, 2), 1)


class TestGolden:
    def test_a_line_a_member_in_the_order_of_the_index_space(self) -> None:
        printed = print_instance(tapped(SUM), [X, Y])
        assert printed.texts == [[f"sum {(x + 1) / 4:f}\n" for x in range(-3, 3)]]
        assert (printed.outputs[0] == run_instance(tapped(), [X, Y])[0]).all()

    def test_a_value_inside_of_the_block_and_texts_alone(self) -> None:
        ops = [op.index for op in tapped().block.ops if op.code == -1 and op.id0 == 1]
        one = tapped(PrintfTap("y is "), PrintfTap("%d\n", op=ops[0], raw=True))
        assert print_instance(one, [X, 5 * Y]).texts == [["y is 5\n"] * 6]
        assert print_instance(tapped(PrintfTap("here\n")), [X, Y]).texts == [["here\n"] * 6]

    def test_samples_are_told_apart(self) -> None:
        texts = print_instance(tapped(SUM), [np.concatenate([X, X + 1]), np.concatenate([Y, Y])]).texts
        assert len(texts) == 2 and texts[1][:-1] == texts[0][1:]

    def test_a_fault_shows(self) -> None:
        """If one input is larger by 1, the printed lines differ."""
        one = tapped(PrintfTap("%f ", op=0))
        assert print_instance(one, [X, Y]).texts != print_instance(one, [X + 1, Y]).texts


class TestDwords:
    @given(st.integers(-(1 << 60), 1 << 60), st.integers(-80, 200))
    def test_reals_are_rounded_as_c_does(self, raw: int, f: int) -> None:
        kind = FixedType(1, 61 - f, f)
        try:
            (expected,) = struct.unpack("<I", struct.pack("<f", float(Fraction(raw) / Fraction(2) ** f)))
        except OverflowError:
            expected = 0x7F800000 | (raw < 0) << 31
        if abs(raw) < 1 << 53:  # beyond 53 bits, the double has been rounded already
            assert dword_of(PrintfTap("%f", op=0), raw, kind) == expected

    @given(st.integers(-(1 << 20), 1 << 20), st.integers(-8, 30))
    def test_bfloats_are_the_nearest_with_ties_to_even(self, raw: int, f: int) -> None:
        value = Fraction(raw) / Fraction(2) ** f
        found = dword_of(PrintfTap("%bf", op=0), raw, FixedType(1, 21 - f, f))

        def distance(bits: int) -> Fraction:
            (number,) = struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))
            return abs(Fraction(number) - value)

        rest = found & 0x7FFF
        others = [distance(found + step) for step in (-1, 1) if rest + step >= 0]
        assert distance(found) <= min(others)
        assert rest % 2 == 0 or distance(found) < min(others)

    @given(st.integers(-(1 << 31), (1 << 31) - 1), st.sampled_from(["hhd", "hhu", "hd", "hu", "d", "u"]))
    def test_integers_are_cut_as_c_does(self, raw: int, conversion: str) -> None:
        tap = PrintfTap(f"%{conversion}", op=0)
        assert dword_of(tap, raw, FixedType(1, 31, 0)) == raw & 0xFFFFFFFF
        assert dword_of(tap, raw >> 4, FixedType(1, 31, -4)) == (raw >> 4 << 4) & 0xFFFFFFFF

    def test_raw_is_the_dword_itself(self) -> None:
        tap = PrintfTap("%f", op=0, raw=True)
        assert tap.printf.render(dword_of(tap, 0x40490FDB, FixedType(0, 30, 2))) == "3.141593"


class TestMachine:
    def test_it_shows_what_the_golden_model_prints(self) -> None:
        one = tapped(SUM, PrintfTap("x %f\n", op=0))
        form = memory_form(one, printf=True)
        count, latency = 6, form.facts.latency
        given = {s.name: np.zeros((1, count + latency + 1, 1)) for s in form.machine.inputs}
        for t, values in enumerate((X, Y)):
            given[f"in{t}_write"][:, :count] = 1
            given[f"in{t}_address"][0, :count, 0] = np.arange(count)
            given[f"in{t}_data"][0, :count, 0] = values.reshape(-1) / 4
        given["start"][:, count] = given["end0"][:] = 2
        given["start"][:, count], given["end1"][:] = 1, 3
        found = dais_verif.run_machine(form.machine, given).outputs
        seen = found["tap"][found["tap_valid"][..., 0] == 1]
        lines = [f"sum {a:f}\nx {b:f}\n" for a, b in seen]
        assert [lines] == print_instance(one, [X, Y]).texts

    def test_what_nobody_asks_for_costs_nothing(self) -> None:
        """The RTL without messages is byte for byte that of an instance without taps.

        With messages, it has two more outputs.
        """
        plain, one = tapped(), tapped(SUM)
        assert emit_machine(memory_form(one).machine, "m") == emit_machine(memory_form(plain).machine, "m")
        names = {signal.name for signal in memory_form(one, printf=True).machine.outputs}
        assert names - {signal.name for signal in memory_form(one).machine.outputs} == {"tap", "tap_valid"}

    def test_a_message_without_a_variable_has_no_data(self) -> None:
        one = tapped(PrintfTap("here\n"))
        form = memory_form(one, printf=True)
        assert "tap" not in form.machine.signals and "tap_valid" in form.machine.signals
        with raises(InputError):
            memory_form(one, 2, printf=True)


class TestLibraries:
    def test_a_kernel_of_a_library_prints(self) -> None:
        """The answer of the library has the taps and the flag, in both generations of the interface."""
        relu = LIBRARY.kernel("relu")
        assert relu is not None
        mine = Library("mine", (replace(relu, taps=lambda r: [SUM]),))
        request = HabanaKernelParams("relu", (Tensor.of(S5, 2),), (Tensor.of(S5, 2),))
        answer = instantiate(mine, request)
        assert answer.flags == ProgramFlags.PRINTF_USED and answer.taps == (SUM,)
        assert instantiation_from_tpc(instantiation_to_tpc(answer)) == answer
        one = instance_of(request, answer)
        assert print_instance(one, [np.array([[3, -1]])]).texts == [["sum 0.750000\n", "sum 0.000000\n"]]
        assert not shipped("relu", [Tensor.of(S5, 2)], (2,)).taps

    @pytest.mark.parametrize(
        ("tap", "said"),
        [
            (PrintfTap("%f", op=99), "op 99"),
            (PrintfTap("%f", output=1), "output 1 in a block of 1"),
            (PrintfTap("%d", op=0), "of which %d prints no fraction: take %f, or raw = true"),
        ],
        ids=["op", "output", "fraction"],
    )
    def test_values_that_are_none_are_refused(self, tap: PrintfTap, said: str) -> None:
        with raises(InputError, match=f"add: printf .*{said}"):
            require_ports(tapped(tap))

    def test_integers_that_are_no_dwords_are_refused(self) -> None:
        wide = Program.build([(-1, 0, -1, 0, (0, 30, 3))], [(0, 0, 0), (0, 3, 0), (0, 6, 0)], inp_shift=[0])
        require_taps(wide, [PrintfTap("%f", output=2)])
        for tap in (PrintfTap("%u", output=1), PrintfTap("%hhu", output=2), PrintfTap("%f", output=0, raw=True)):
            with raises(InputError):
                require_taps(wide, [tap])


WRONG = [
    ("3", "printf"),
    ("[[printf]]\nmessage = 3", "message is 3"),
    ('[[printf]]\nmessage = "%d"', "op or output"),
    ('[[printf]]\nmessage = "a"\nop = 0', "printf 'a'"),
    ('[[printf]]\nmessage = "%x"\nop = 0', r"%x.*conversion"),
    ('[[printf]]\nmessage = "%d %d"\nop = 0', ""),
    ('[[printf]]\nmessage = "%d"\nop = 0\noutput = 0', r"op.*select a value"),
    ('[[printf]]\nmessage = "%d"\nop = "3..1"', r"op is '3..1'.*number, 0.*range.*'3..6'"),
    ('[[printf]]\nmessage = "%d"\nop = true', "op is True"),
    ('[[printf]]\nmessage = "%d"\nop = "0..99999"', r"member.*up to 4096 messages"),
    ('[[printf]]\nmessage = "%d"\nop = 0\nraw = 1', "raw is 1"),
    ('[[printf]]\nmessage = "%d"\nops = 0', r"'ops'.*key; known.*message, op, output, raw"),
    ('[[printf]]\nmessage = "a\\u0000"', "NUL"),
    ('[[printf]]\nmessage = "%d"\nop = 69', "op 69 in a block of 69"),
    ('[[printf]]\nmessage = "%d"\nop = 3', "%f, or raw ="),
    ('[[printf]]\nmessage = "a"\n[[printf]]\nmessage = 3', r"printf\[1\]: message is 3"),
]


class TestFile:
    @pytest.mark.parametrize(("text", "said"), WRONG, ids=range(len(WRONG)))
    def test_what_is_wrong_is_named(self, text: str, said: str, tmp_path: Path) -> None:
        whole = (EXAMPLES / "kernels" / "print_test.toml").read_text()
        head = whole[: whole.index("[[printf]]")].replace('"print_test', f'"{EXAMPLES.as_posix()}/kernels/print_test')
        text = text if text.startswith("[") else f"printf = {text}\n"
        (tmp_path / "k.toml").write_text(f"{head}{text}" if text.startswith("[") else f"{text}{head}")
        with raises(InputError, match=said) as refused:
            read_own_kernel(tmp_path / "k.toml")
        assert "\n" not in str(refused.value)

    def test_a_request_may_have_messages(self, tmp_path: Path) -> None:
        path = tmp_path / "relu.toml"
        path.write_text(
            'kernel = "relu"\n[input]\nshape = [2]\ntype = "s5.2"\n[printf]\nmessage = "is %f\\n"\noutput = 0\n'
        )
        assert print_instance(read_instance(path), [np.array([[3, -1]])]).texts == [["is 0.750000\n", "is 0.000000\n"]]
        path.write_text(path.read_text().replace("output = 0", "output = 1"))
        with raises(InputError):
            read_instance(path)

    def test_one_table_and_a_range(self, tmp_path: Path, example: KernelInstance) -> None:
        assert len(example.taps) == 11 + 64 and example.taps[-1] == PrintfTap("%u, ", op=68)
        assert Printf.of("%u, ") == example.taps[-1].printf
