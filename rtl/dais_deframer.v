// Deframer: takes bytes of a link, returns the contents of good frames.
//
// Framing is that of PPP (RFC 1662): a frame ends at a flag 7E; 7D means that the next byte was sent with bit 5 inverted.
// So a flag never occurs within a frame, and a receiver that has lost synchronization regains it at the next flag.
//
// A frame is buffered until its CRC is known, then output without the CRC, `out_last` at its last byte. A frame that is
// wrong (CRC, shorter than LEAST bytes, larger than the free space) is output as the single byte BAD, in its
// place among the others. The link is never stalled: rx has no ready.
`default_nettype none

module dais_deframer #(
  parameter BUFFER_BITS = 12,  // the buffer holds 2**BUFFER_BITS bytes
  parameter [3:0] LEAST = 9,   // bytes of the shortest frame, CRC included; 6 to 14
  parameter [7:0] BAD = 8'h7F
) (
  input  wire       clk,
  input  wire       resetn,
  input  wire [7:0] rx_data,
  input  wire       rx_valid,
  output wire [7:0] out_data,
  output wire       out_last,
  output reg        out_valid,
  input  wire       out_ready
);
  localparam [7:0] FLAG = 8'h7E, ESCAPE = 8'h7D;
  localparam [BUFFER_BITS:0] ROOM = {1'b1, {BUFFER_BITS{1'b0}}};

  // Incoming frame: its last five bytes are held here: four of them are the CRC, the fifth is the last data byte.
  reg [39:0] waiting;
  reg [31:0] crc;
  reg [3:0]  length;  // saturates at 15
  reg        escaped, dropped;

  // Complete frames end at `committed`; the received part of the next one ends at `head`.
  // No address is read at the edge at which it is written: it is free then, and `fetch` reads only complete frames.
  (* no_rw_check *) reg [8:0] memory [0:(1 << BUFFER_BITS) - 1];
  reg [BUFFER_BITS:0] head, committed, tail;
  reg [8:0] out;

  wire [7:0]  plain = rx_data ^ (escaped ? 8'h20 : 8'h00);
  wire [31:0] crc_next;
  dais_crc32 check (.crc(crc), .data(plain), .next(crc_next));

  wire is_flag = rx_valid && rx_data == FLAG;
  wire is_byte = rx_valid && !is_flag && (escaped || rx_data != ESCAPE);
  // Two escapes in a row are never sent, nor is a flag after one.
  wire ends = is_flag && (length != 0 || escaped);
  wire good = !escaped && !dropped && length >= LEAST && crc == 32'hDEBB20E3;
  wire spills = is_byte && length >= 5;

  wire [BUFFER_BITS:0] place = ends && !good ? committed : head;
  wire has_room = place - tail != ROOM;
  wire write = (ends || spills) && has_room;

  always @(posedge clk) begin
    if (write) memory[place[BUFFER_BITS-1:0]] <= ends && !good ? {1'b1, BAD} : {ends, waiting[39:32]};
    if (!resetn) begin
      {head, committed} <= 0;
    end else if (ends) begin
      // A good frame that fills the buffer leaves no room for its end marker: it is dropped.
      head <= has_room ? place + 1'b1 : committed;
      committed <= has_room ? place + 1'b1 : committed;
    end else if (write) begin
      head <= head + 1'b1;
    end
  end

  always @(posedge clk) begin
    if (!resetn || is_flag) begin
      crc <= 32'hFFFFFFFF;
      length <= 0;
      escaped <= 1'b0;
      dropped <= 1'b0;
    end else if (is_byte) begin
      waiting <= {waiting[31:0], plain};
      crc <= crc_next;
      length <= length + {3'b0, length != 15};
      escaped <= 1'b0;
      dropped <= dropped || (spills && !has_room) || (escaped && rx_data == ESCAPE);
    end else if (rx_valid) begin
      escaped <= 1'b1;
    end
  end

  wire fetch = tail != committed && (!out_valid || out_ready);
  always @(posedge clk) begin
    if (fetch) out <= memory[tail[BUFFER_BITS-1:0]];
    if (!resetn) begin
      tail <= 0;
      out_valid <= 1'b0;
    end else begin
      tail <= tail + {{BUFFER_BITS{1'b0}}, fetch};
      out_valid <= fetch || (out_valid && !out_ready);
    end
  end
  assign {out_last, out_data} = out;
endmodule

`default_nettype wire
