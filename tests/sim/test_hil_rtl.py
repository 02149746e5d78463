"""The RTL of a board, frame by frame: good requests are answered, and bad ones do no harm."""

from __future__ import annotations

import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.boards import link_to, verilated
from support.programs import every_opcode

from dais_verif.base.toolchain import tools
from dais_verif.golden import run_raw
from dais_verif.simulation.boards.emulator import write_design
from dais_verif.simulation.boards.identity import PROTOCOL, REPLY, Decoder, Frame, Identity, Kind, encode
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

EVERY = every_opcode()
PORTS = ports_of(EVERY)
IN_BYTES, OUT_BYTES = (PORTS.input_bits + 7) // 8, (PORTS.output_bits + 7) // 8
DAMAGED = Frame(Kind.DAMAGED | REPLY, 0, b"")
FLAG = b"\x7e"
BUFFER = 4096


@pytest.fixture(scope="module", params=["fifo", "uart", "spi"])
def board(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    with verilated(EVERY, request.param, tmp_path_factory.mktemp(request.param)) as board:
        yield board


def vectors(rows: int, seed: int = 0) -> tuple[bytes, bytes]:
    """Return the payloads of a request and of its reply."""
    batch = generate(EVERY, rows, seed)
    inputs, outputs = pack_inputs(batch, PORTS), pack_outputs(run_raw(EVERY, batch, check=False), PORTS, rows)
    return (
        b"".join(row.tobytes()[:IN_BYTES] for row in inputs),
        b"".join(row.tobytes()[:OUT_BYTES] for row in outputs),
    )


def exchange(
    board: socket.socket, data: bytes, replies: int, *, until: Frame | None = None, seconds: float = 20
) -> list[Frame]:
    """Send ``data``; return the first ``replies`` frames that come, up to ``until``, and those that follow at once."""
    decoder: Decoder = Decoder()
    frames: list[Frame] = []
    with link_to(board) as link:
        link.send(data)
        deadline = time.monotonic() + seconds
        while (len(frames) < replies or (until and until not in frames)) and time.monotonic() < deadline:
            frames += decoder.feed(link.receive(0.1))
        frames += decoder.feed(link.receive(0.02))
    assert decoder.damaged == 0
    return frames


def run(tag: int, payload: bytes) -> bytes:
    return encode(Frame(Kind.RUN, tag, payload))


def reply(tag: int, payload: bytes) -> Frame:
    return Frame(Kind.RUN | REPLY, tag, payload)


@pytest.mark.few(2)
def test_it_says_what_it_is(board: socket.socket) -> None:
    (frame,) = exchange(board, encode(Frame(Kind.IDENTIFY, 0x7E7D5E5D, b"")), 1)
    assert frame[:2] == (Kind.IDENTIFY | REPLY, 0x7E7D5E5D)
    expected = Identity(PROTOCOL, EVERY.hash, PORTS.input_bits, PORTS.output_bits, 0, BUFFER)
    assert Identity.parse(frame.payload) == expected
    assert frame.payload == expected.pack()


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_vectors_and_results(board: socket.socket, rows: int) -> None:
    inputs, outputs = vectors(rows)
    assert exchange(board, run(rows, inputs), 1) == [reply(rows, outputs)]


def test_several_requests_at_once_are_answered_in_order(board: socket.socket) -> None:
    asked = [vectors(rows, rows) for rows in (3, 1, 50, 2)]
    data = b"".join(run(tag, inputs) for tag, (inputs, _) in enumerate(asked))
    assert exchange(board, data, 4) == [reply(tag, outputs) for tag, (_, outputs) in enumerate(asked)]


def test_requests_without_vectors(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    found = exchange(board, run(1, b"") + encode(Frame(Kind.IDENTIFY, 2, b"xyz")) + run(3, inputs), 3)
    assert [frame.tag for frame in found] == [1, 2, 3]
    assert (found[0], found[2]) == (reply(1, b""), reply(3, outputs))


@pytest.mark.parametrize("kind", [0, 3, 0x55, 0x7E, 0x7F])
def test_a_request_of_another_kind_is_answered_without_data(board: socket.socket, kind: int) -> None:
    inputs, outputs = vectors(1)
    data = encode(Frame(kind, 7, b"")) + encode(Frame(kind, 8, bytes(50))) + run(9, inputs)
    expected = [Frame(kind | REPLY, 7, b""), Frame(kind | REPLY, 8, b""), reply(9, outputs)]
    assert exchange(board, data, 3) == expected


@pytest.mark.parametrize("flags", [FLAG, FLAG * 20])
def test_flags_between_frames_mean_nothing(board: socket.socket, flags: bytes) -> None:
    inputs, outputs = vectors(1)
    assert exchange(board, flags + run(1, inputs) + flags + run(2, inputs) + flags, 2) == [
        reply(1, outputs),
        reply(2, outputs),
    ]


def test_two_frames_may_share_a_flag(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    assert exchange(board, run(1, inputs)[:-1] + run(2, inputs), 2) == [reply(1, outputs), reply(2, outputs)]


@pytest.mark.parametrize("damage", ["flip", "lose", "double", "escape", "cut"])
def test_a_damaged_request_is_said_to_be_damaged_and_the_next_one_is_answered(
    board: socket.socket, damage: str
) -> None:
    inputs, outputs = vectors(5)
    bad = bytearray(run(1, bytes(inputs)))
    if damage == "flip":
        bad[7] ^= 0x10
    elif damage == "lose":
        del bad[9]
    elif damage == "double":
        bad.insert(9, bad[9])
    elif damage == "escape":
        bad[-1:] = b"\x7d\x7e"
    else:
        del bad[6:-1]
    assert exchange(board, bytes(bad) + run(2, inputs), 2) == [DAMAGED, reply(2, outputs)]


def test_a_request_beyond_the_buffer_is_said_to_be_damaged(board: socket.socket) -> None:
    inputs, outputs = vectors(1)
    large = inputs * (2 * BUFFER // IN_BYTES)
    assert exchange(board, run(1, large) + run(2, inputs), 2) == [DAMAGED, reply(2, outputs)]


def test_a_request_that_fills_the_buffer(board: socket.socket) -> None:
    rows = (BUFFER - 5) // IN_BYTES
    inputs, outputs = vectors(rows)
    assert exchange(board, run(1, inputs), 1) == [reply(1, outputs)]


@pytest.mark.few(2)
def test_any_noise_is_survived(board: socket.socket) -> None:
    """A request after noise and a flag is answered, and no frame looks like an answer to another request."""
    rng = random.Random(1)
    inputs, outputs = vectors(2)
    for tag in range(60):
        noise = bytes(rng.choice([0x7E, 0x7D, rng.randrange(256)]) for _ in range(rng.randrange(40)))
        found = exchange(board, noise + FLAG + run(tag, inputs), 1, until=reply(tag, outputs))
        assert found.count(reply(tag, outputs)) == 1
        assert set(found) <= {reply(tag, outputs), DAMAGED}


_BENCH = """
module bench;
  reg clk = 0;
  reg [7:0] bytes [0:{last}];
  reg [7:0] data;
  integer k, bit;
  reg rx = 1;
  wire tx;
  model_uart #(.CLOCKS_PER_BIT({clocks})) dut (.aclk(clk), .aresetn(1'b1), .uart_rx(rx), .uart_tx(tx));
  always #5 clk = !clk;
  initial begin
    $readmemh("bytes.hex", bytes);
    repeat (100) @(posedge clk);
    for (k = 0; k <= {last}; k = k + 1) begin
      data = bytes[k];
      rx = 0; #{host};
      for (bit = 0; bit < 8; bit = bit + 1) begin rx = data[bit]; #{host}; end
      rx = 1; #{host};
    end
    repeat ({clocks} * 3000) @(posedge clk);
    $finish;
  end
  reg [7:0] came;
  integer n;
  always @(negedge tx) begin
    #({host} / 2);
    for (n = 0; n < 8; n = n + 1) begin #{host}; came[n] = tx; end
    #{host};
    $display("%b %b", tx, came);
  end
endmodule
"""


@pytest.mark.parametrize("deviation", [-2, 0, 2])
def test_a_board_that_was_only_switched_on_answers_without_a_bit_unknown(deviation: int, tmp_path: Path) -> None:
    """In Icarus, where registers without a value are X, the answer has no X, and no reset is needed.

    ``deviation``: the deviation of the host's bit time from the board's, in percent.
    """
    clocks = 20
    inputs, outputs = vectors(2)
    data = encode(Frame(Kind.IDENTIFY, 1, b"")) + run(2, inputs)
    (tmp_path / "bytes.hex").write_text("\n".join(f"{byte:02x}" for byte in data))
    host = 10 * clocks * (100 + deviation) // 100
    (tmp_path / "bench.v").write_text(_BENCH.format(last=len(data) - 1, clocks=clocks, host=host))
    sources = [*write_design(EVERY, "uart", tmp_path), tmp_path / "bench.v"]
    icarus = tools.icarus()
    subprocess.run(
        [icarus.iverilog, "-g2005", "-s", "bench", "-o", tmp_path / "bench.vvp", *sources], check=True, timeout=60
    )
    done = subprocess.run(
        [icarus.vvp, "-n", "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=120
    )
    lines = [line.split() for line in done.stdout.splitlines() if re.fullmatch("[01xz] [01xz]{8}", line)]
    assert {stop for stop, _ in lines} == {"1"}
    frames = Decoder().feed(bytes(int(byte, 2) for _, byte in lines))
    assert [frame.tag for frame in frames] == [1, 2]
    assert frames[1] == reply(2, outputs)


_SPI_BENCH = """
`timescale 1ns/1ns
module bench;
  reg clk = 0, sck = 0, cs_n = 1, mosi = 0;
  wire miso;
  always #5 clk = !clk;
  model_spi dut (.aclk(clk), .aresetn(1'b1), .spi_sck(sck), .spi_cs_n(cs_n), .spi_mosi(mosi), .spi_miso(miso));
  reg [7:0] bytes [0:{last}];
  reg [7:0] came;
  integer k, bit;
  initial begin
    $readmemh("bytes.hex", bytes);
    repeat (100) @(posedge clk);
    #3;
    for (k = 0; k <= {last}; k = k + 1) begin
      cs_n = 0;
      if (k % 5 == 0) #{half};
      for (bit = 7; bit >= 0; bit = bit - 1) begin
        mosi = bytes[k][bit]; #{half};
        came[bit] = miso; sck = 1; #{half};
        sck = 0;
      end
      $display("1 %b", came);
      if (k % 5 == 4) begin #{half} cs_n = 1; #{half}; end
    end
    $finish;
  end
endmodule
"""


def over_spi(folder: Path, half: int, bug: tuple[str, str] = ("", "")) -> list[Frame]:
    """Return the frames sent over SPI in Icarus after power-on.

    ``half``: half the time of a bit in ns; the clock period is 10 ns.
    """
    inputs, _ = vectors(2)
    asked = encode(Frame(Kind.IDENTIFY, 1, b"")) + run(2, inputs)
    data = asked.replace(b"\0", b"\x7d\x20") + bytes(300)
    (folder / "bytes.hex").write_text("\n".join(f"{byte:02x}" for byte in data))
    (folder / "bench.v").write_text(_SPI_BENCH.format(last=len(data) - 1, half=half))
    sources = write_design(EVERY, "spi", folder)
    spi = folder / "dais_spi.v"
    assert bug[0] in spi.read_text()
    spi.write_text(spi.read_text().replace(*bug))
    icarus = tools.icarus()
    built = [icarus.iverilog, "-g2005", "-s", "bench", "-o", folder / "bench.vvp", *sources, folder / "bench.v"]
    subprocess.run(built, check=True, timeout=60)
    done = subprocess.run(
        [icarus.vvp, "-n", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True, timeout=120
    )
    lines = re.findall("^1 ([01xz]{8})$", done.stdout, re.MULTILINE)
    assert len(lines) == len(data) and not any(set(line) & {"x", "z"} for line in lines)
    return Decoder().feed(bytes(int(line, 2) for line in lines if int(line, 2)))


@pytest.mark.parametrize("half", [40, 47, 200])
def test_spi_answers_from_power_on_without_a_bit_unknown(half: int, tmp_path: Path) -> None:
    """Answers are known with the fastest allowed SPI clock, one that is no multiple of the board's, and a slow one."""
    frames = over_spi(tmp_path, half)
    assert [frame.tag for frame in frames] == [1, 2]
    assert frames[1] == reply(2, vectors(2)[1])


@pytest.mark.parametrize(
    "bug",
    [
        ("!zero ? tx_data : escaped ? ESCAPED : ESCAPE", "tx_data"),
        ("begins && !waits", "begins"),
        ("== 3'd7", "== 3'd6"),
    ],
    ids=["zeros-as-they-are", "a-byte-overwritten", "a-bit-early"],
)
def test_a_bug_in_spi_is_found(bug: tuple[str, str], tmp_path: Path) -> None:
    assert [frame.tag for frame in over_spi(tmp_path, 40, bug)] != [1, 2]


#: Bugs in the bridge: the file, the old text and the new text.
BUGS = [
    ("dais_deframer.v", "crc == 32'hDEBB20E3", "1'b1"),
    ("dais_deframer.v", "!dropped && length", "length"),
    ("dais_deframer.v", "rx_data ^ (escaped ? 8'h20 : 8'h00)", "rx_data"),
    ("dais_framer.v", "escaping ? plain ^ 8'h20", "escaping ? plain"),
    ("dais_bridge.v", "if (index != 0) tag <= {8'b0, tag[31:8]};", ""),
    ("dais_bridge.v", "vector_whole <= request_last || vector_bytes", "vector_whole <= vector_bytes"),
]


def follows_the_protocol(board: socket.socket) -> bool:
    """Return whether a board responds correctly to good, damaged, cut and too large requests."""
    inputs, outputs = vectors(20)
    bad = bytearray(run(2, inputs))
    bad[12] ^= 1
    data = run(0x7E7D7E01, inputs) + bytes(bad) + run(3, inputs * 100) + run(4, inputs[:-1]) + run(5, inputs)
    try:
        found = exchange(board, data, 5, seconds=3)
    except AssertionError:  # damaged replies
        return False
    cut = [frame for frame in found if frame.tag == 4]
    found = [frame for frame in found if frame.tag != 4]
    # A host never sends part of a vector; the reply to it belongs to no vector, but it must be complete.
    return [len(frame.payload) for frame in cut] == [len(outputs)] and found == [
        reply(0x7E7D7E01, outputs),
        DAMAGED,
        DAMAGED,
        reply(5, outputs),
    ]


def test_a_board_follows_the_protocol(board: socket.socket) -> None:
    assert follows_the_protocol(board)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug[0]} {bug[1]}")
def test_a_bug_in_the_bridge_is_seen(bug: tuple[str, str, str], tmp_path: Path) -> None:
    with verilated(EVERY, "fifo", tmp_path, bug=bug) as board:
        assert not follows_the_protocol(board)
