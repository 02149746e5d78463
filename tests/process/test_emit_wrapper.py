"""A core in a wrapper: linters and Yosys accept it, and the README of the folder says how to use it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.programs import every_opcode

from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter.board import BOARD_FILES, LINKS, buffer_bits, clocks_per_bit, emit_board_top
from dais_verif.hardware.emitter.project import WrapperOptions, project_folder
from dais_verif.hardware.emitter.wrapper import wrap
from dais_verif.spec.program.ports import ports_of

EVERY = every_opcode()
PORTS = ports_of(EVERY)

#: (input bits, output bits, latency)
SHAPES = [(8, 8, 0), (1, 1, 0), (19, 113, 3), (1100, 9, 0)]


@pytest.fixture(params=[(link, shape) for link in LINKS for shape in SHAPES], ids=str)
def board(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[str]]:
    """Write a wrapped core that only consists of registers; return the name of the top module, and all files."""
    link, (inp, out, latency) = request.param
    clocked = "input wire clk, input wire en, " if latency else ""
    kept = f"reg [{inp - 1}:0] r; always @(posedge clk) if (en) r <= model_inp;" if latency else ""
    core = f"module model ({clocked}input wire [{inp - 1}:0] model_inp, output wire [{out - 1}:0] model_out);\n"
    core += f"{kept}\nassign model_out = {{{out}{{^{'r' if latency else 'model_inp'}}}}};\nendmodule\n"
    wrapped = wrap(link, "model", core, "0123456789abcdef" * 4, input_bits=inp, output_bits=out, latency=latency)
    for name, text in wrapped.files.items():
        (tmp_path / name).write_text(text)
    return wrapped.top, list(wrapped.files)


def run(words: list[str], folder: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def test_icarus_takes_it_as_verilog_2005_without_a_warning(board: tuple[str, list[str]], tmp_path: Path) -> None:
    top, files = board
    words = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", top, "-o", "model.vvp", *files]
    assert run(words, tmp_path) == ""


def test_verilator_finds_nothing_to_say(board: tuple[str, list[str]], tmp_path: Path) -> None:
    top, files = board
    found = tools.verilator()
    words = [*found.driver, "--lint-only", "-Wall", "--language", "1364-2005", "--top-module", top, *files]
    assert "%" not in run(words, tmp_path, dict(found.env))


def yosys(script: str, folder: Path) -> str:
    found = shutil.which("yosys")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no yosys on PATH")
        pytest.skip("no yosys on PATH")
    output = run([found, "-p", script], folder)
    assert not re.search(r"error|(?<!no )latch inferred", output, re.IGNORECASE)
    return output


@pytest.mark.few(4)
def test_yosys_finds_no_latch_and_no_problem(board: tuple[str, list[str]], tmp_path: Path) -> None:
    top, files = board
    output = yosys(f"read_verilog {' '.join(files)}; hierarchy -check -top {top}; proc; check -assert", tmp_path)
    assert not re.search("warning", output, re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
def test_yosys_synthesises_it_for_an_fpga(link: str, tmp_path: Path) -> None:
    """Yosys maps the buffer to block RAM."""
    bits = {"input_bits": PORTS.input_bits, "output_bits": PORTS.output_bits}
    wrapped = wrap(link, "model", emit_verilog(EVERY), EVERY.hash, **bits)
    for name, text in wrapped.files.items():
        (tmp_path / name).write_text(text)
    script = f"read_verilog {' '.join(wrapped.files)}; synth_ice40 -top {wrapped.top}; check -assert; stat"
    output = yosys(script, tmp_path)
    assert int(re.findall(r"SB_RAM40_4K\w* +(\d+)", output)[-1]) >= 8


def test_names_of_the_hand_written_modules_are_their_files() -> None:
    from dais_verif.hardware.emitter.rtl_library import library_sources

    for path in library_sources(*BOARD_FILES["uart"]):
        assert re.findall(r"^module (\w+)", path.read_text(), re.MULTILINE) == [path.stem]


@pytest.mark.parametrize("bits", [1, 8, 900, 8000, 8001, 100_000])
def test_the_buffer_has_room_for_some_requests(bits: int) -> None:
    vector = -(-bits // 8)
    assert 1 << buffer_bits(bits) >= max(4096, 4 * (vector + 5))


def test_the_top_module_names_the_program() -> None:
    text = emit_board_top("model", "uart", EVERY.hash, input_bits=8, output_bits=8)
    assert f".PROGRAM(256'h{EVERY.hash})" in text


@pytest.mark.parametrize(("period", "clocks"), [(10, 868), (5, 1736), (20.8333, 417), (1000, 9), (5000, 4)])
def test_a_uart_is_set_for_the_clock(period: float, clocks: int) -> None:
    assert clocks_per_bit(period) == clocks
    text = emit_board_top("model", "uart", EVERY.hash, input_bits=8, output_bits=8, period=period)
    assert f"parameter CLOCKS_PER_BIT = {clocks}," in text


@pytest.mark.parametrize("link", LINKS)
def test_the_folder_says_how_to_talk_to_the_board(link: str) -> None:
    page = project_folder(EVERY, "model", emit_verilog(EVERY), WrapperOptions(link, period=10.0))["README.md"].decode()
    assert {"uart": "(868 here)", "spi": "at most 12.5 MHz", "fifo": "rx_*"}[link] in page
    assert "dais-verif hil prog.bin --target" in page
