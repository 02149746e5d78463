"""``printf`` of kernels prints as C does: every line of the interface's example, compared with C's printf."""

from __future__ import annotations

import ctypes
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.compile.kernels.printf import CONVERSIONS, Printf, buffer_of, messages_of


def bits_of(value: float) -> int:
    found: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return found


#: The example of the interface's document, in its spelling, with variables as dwords.
EXAMPLE = [
    ("Test string!\n", 0, "Test string!\n"),
    ("char value is %hhd\n", 0xFF, "char value is -1\n"),
    ("unsigend char value is %hhu\n", 0xFF, "unsigend char value is 255\n"),
    ("short value is %hd\n", 0xB221, "short value is -19935\n"),
    ("unsigend short value is %hu\n", 0xB221, "unsigend short value is 45601\n"),
    ("int value is %d\n", 0x8455CDD1, "int value is -2074751535\n"),
    ("unsigend int value is %u\n", 0x8455CDD1, "unsigend int value is 2220215761\n"),
    ("bfloat value is %bf\n", bits_of(46.25) >> 16, "bfloat value is 46.250000\n"),
    ("float value is %f\n", bits_of(15.23423), "float value is 15.234230\n"),
    ("Vector Print:\n", 0, "Vector Print:\n"),
    ("=============\n", 0, "=============\n"),
    *(("%u, ", lane, f"{lane}, ") for lane in range(64)),
]


class TestMessages:
    def test_the_example(self) -> None:
        assert [Printf.of(text).render(dword) for text, dword, _ in EXAMPLE] == [line for *_, line in EXAMPLE]

    @given(st.sampled_from(sorted(set(CONVERSIONS) - {"f", "bf"})), st.integers(0, (1 << 32) - 1))
    def test_integers_are_those_of_c(self, conversion: str, dword: int) -> None:
        buffer = ctypes.create_string_buffer(64)
        ctypes.CDLL(None).snprintf(buffer, 64, f"<%{conversion}>".encode(), ctypes.c_uint32(dword))
        assert Printf.of(f"<%{conversion}>").render(dword) == buffer.value.decode()

    @given(st.floats(width=32) | st.sampled_from([-0.0, float("inf"), float("-inf")]))
    def test_reals_are_those_of_c(self, value: float) -> None:
        buffer = ctypes.create_string_buffer(128)
        ctypes.CDLL(None).snprintf(buffer, 128, b"%f", ctypes.c_double(value))
        expected = buffer.value.decode().replace("-nan", "nan")
        assert Printf.of("%f").render(bits_of(value)) == expected
        top = bits_of(value) & 0xFFFF0000
        assert Printf.of("%bf").render(0xABCD0000 | top >> 16) == Printf.of("%f").render(top)

    def test_percent_signs(self) -> None:
        assert Printf.of("100%%: %d%%").render(7) == "100%: 7%"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("%hf", r"%hf.*conversion; known.*%hhd %hhu"),
            ("%5d", r"%5d.*conversion"),
            ("%ld", r"%ld.*conversion"),
            ("%s", r"%s.*conversion"),
            ("%", r"%.*conversion"),
            ("%.2f", r"%.2f.*conversion"),
            ("%d %d", ""),
        ],
    )
    def test_other_formats_are_refused_by_name(self, text: str, said: str) -> None:
        with raises(InputError, match=said):
            Printf.of(text)

    def test_a_variable_is_a_dword(self) -> None:
        for dword in (-1, 1 << 32):
            with raises(InputError):
                Printf.of("%d").render(dword)


class TestBuffer:
    def test_there_and_back(self) -> None:
        buffer = buffer_of((text, dword) for text, dword, _ in EXAMPLE)
        assert not buffer.lost
        assert list(messages_of(buffer.dwords)) == [line for *_, line in EXAMPLE]

    def test_messages_without_room_are_counted(self) -> None:
        whole = buffer_of([("abc", 0), ("%d", 5)])
        assert buffer_of([("abc", 0), ("%d", 5)], 4 * len(whole.dwords)) == whole
        less = buffer_of([("abc", 0), ("%d", 5), ("e", 0)], 4 * len(whole.dwords) - 4)
        assert (list(messages_of(less.dwords)), less.lost) == (["abc"], 2)

    def test_a_nul_ends_a_text(self) -> None:
        with raises(InputError):
            buffer_of([("a\0b", 0)])

    @pytest.mark.parametrize("dwords", [(), (1,), (0xCDCDCDCD,), (0xCDCDCDCD, 0, 0x61616161)])
    def test_what_is_no_buffer(self, dwords: tuple[int, ...]) -> None:
        with raises(InputError):
            list(messages_of(dwords))
