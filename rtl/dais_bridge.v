// Frames of vectors in, frames of results out: a host on a byte stream drives an AXI4-Stream core.
//
// The stream may be a UART (dais_uart), a USB FIFO, a mailbox behind JTAG or PCIe: a byte is passed whenever valid and
// ready are both 1. rx_ready is always 1; a host that sends more than the buffer holds loses a frame, is notified, and
// sends it again.
//
// No state is kept from one frame to the next: a repeated request is answered again. The request is a
// command byte, a four-byte tag that is returned unchanged, and data:
//   01 identify   reply: 81, tag, identity (see below)
//   02 run        reply: 82, tag, one result per vector; vectors and results are whole bytes, first bit in bit 0
//   others        reply: the command byte with bit 7 set, tag
// A damaged frame is answered by FF and four zero bytes. docs/hil.md describes the protocol.
`default_nettype none

module dais_bridge #(
  parameter IN_BITS = 8,           // bits of model_inp
  parameter OUT_BITS = 8,          // bits of model_out
  parameter LATENCY = 0,           // of the core, reported to the host
  parameter [255:0] PROGRAM = 0,   // hash of the program that the core was made from
  parameter BUFFER_BITS = 12       // the request buffer holds 2**BUFFER_BITS bytes
) (
  input  wire       aclk,
  input  wire       aresetn,
  // to the host
  input  wire [7:0] rx_data,
  input  wire       rx_valid,
  output wire       rx_ready,
  output wire [7:0] tx_data,
  output wire       tx_valid,
  input  wire       tx_ready,
  // to s_axis of the shell
  output wire [8*((IN_BITS+7)/8)-1:0] vector_tdata,
  output wire       vector_tvalid,
  input  wire       vector_tready,
  output wire       vector_tlast,
  // to m_axis of the shell
  input  wire [8*((OUT_BITS+7)/8)-1:0] result_tdata,
  input  wire       result_tvalid,
  output wire       result_tready,
  input  wire       result_tlast
);
  localparam IN_BYTES = (IN_BITS + 7) / 8;
  localparam OUT_BYTES = (OUT_BITS + 7) / 8;
  localparam [7:0] IDENTIFY = 8'h01, RUN = 8'h02, BAD = 8'h7F;
  localparam [2:0] KIND = 3'd0, TAG = 3'd1, REPLY = 3'd2, WHO = 3'd3, VECTORS = 3'd4, SKIP = 3'd5;

  // Little-endian: "DAIS", version of this protocol, hash, bits in, bits out, latency, bytes of the buffer.
  localparam WHO_BYTES = 53;
  localparam [31:0] IN_WORD = IN_BITS, OUT_WORD = OUT_BITS, LATENCY_WORD = LATENCY, BUFFER_WORD = 1 << BUFFER_BITS;
  localparam [8*WHO_BYTES-1:0] IDENTITY =
    {BUFFER_WORD, LATENCY_WORD, OUT_WORD, IN_WORD, PROGRAM, 8'd1, 8'h53, 8'h49, 8'h41, 8'h44};

  wire [7:0] request, reply;
  wire request_last, request_valid, request_ready, reply_last, reply_valid, reply_ready;
  assign rx_ready = 1'b1;
  dais_deframer #(.BUFFER_BITS(BUFFER_BITS), .BAD(BAD)) deframer (
    .clk(aclk), .resetn(aresetn), .rx_data(rx_data), .rx_valid(rx_valid),
    .out_data(request), .out_last(request_last), .out_valid(request_valid), .out_ready(request_ready)
  );
  dais_framer framer (
    .clk(aclk), .resetn(aresetn), .in_data(reply), .in_last(reply_last), .in_valid(reply_valid),
    .in_ready(reply_ready), .tx_data(tx_data), .tx_valid(tx_valid), .tx_ready(tx_ready)
  );

  (* fsm_encoding = "none" *) reg [2:0] state;  // fixed encoding: the proof of a bitstream relies on it
  reg [5:0]  index;
  reg [7:0]  kind;
  reg [31:0] tag;
  reg        has_data;  // the request has data after its tag

  wire take = request_valid && request_ready;
  wire give = reply_valid && reply_ready;

  // Vectors: bytes are shifted in from the top, so that the first one ends at the bottom.
  reg [8*IN_BYTES-1:0] vector;
  reg [31:0]           vector_bytes;
  reg                  vector_whole, vector_ends;
  wire vector_room = !vector_whole || vector_tready;
  assign vector_tdata = vector;
  assign vector_tvalid = vector_whole;
  assign vector_tlast = vector_ends;

  always @(posedge aclk) begin
    if (!aresetn) begin
      vector_whole <= 1'b0;
      vector_ends <= 1'b0;
      vector_bytes <= 0;
    end else if (state != VECTORS) begin
      vector_ends <= 1'b0;
    end else begin
      if (vector_tready) vector_whole <= 1'b0;
      if (take) begin
        vector <= vector >> 8;
        vector[8*IN_BYTES-1 -: 8] <= request;
        vector_ends <= request_last;
        vector_whole <= request_last || vector_bytes == IN_BYTES - 1;
        vector_bytes <= request_last || vector_bytes == IN_BYTES - 1 ? 0 : vector_bytes + 1;
      end
    end
  end

  // Results: bytes are shifted out at the bottom.
  reg [8*OUT_BYTES-1:0] result;
  reg [31:0]            result_bytes;  // remaining
  reg                   result_ends;
  assign result_tready = state == VECTORS && (result_bytes == 0 || (result_bytes == 1 && reply_ready && !result_ends));

  always @(posedge aclk) begin
    if (!aresetn) begin
      result_bytes <= 0;
      result_ends <= 1'b0;
    end else if (result_tvalid && result_tready) begin
      result <= result_tdata;
      result_bytes <= OUT_BYTES;
      result_ends <= result_tlast;
    end else if (state == VECTORS && give) begin
      result <= result >> 8;
      result_bytes <= result_bytes - 1;
    end
  end

  wire [8*64-1:0] identity = {{8*(64-WHO_BYTES){1'b0}}, IDENTITY};  // padded, so that it is defined for every `index`
  assign request_ready = state == KIND || state == TAG || state == SKIP ||
                         (state == VECTORS && vector_room && !vector_ends);
  assign reply = state == VECTORS ? result[7:0] :
                 state == WHO ? identity[8*index +: 8] :
                 index == 0 ? {1'b1, kind[6:0]} : tag[7:0];
  assign reply_valid = state == REPLY || state == WHO || (state == VECTORS && result_bytes != 0);
  assign reply_last = state == VECTORS ? result_ends && result_bytes == 1 :
                      state == WHO ? index == WHO_BYTES - 1 :
                      index == 4 && kind != IDENTIFY && !(kind == RUN && has_data);

  always @(posedge aclk) begin
    if (!aresetn) begin
      state <= KIND;
      index <= 0;
    end else begin
      case (state)
        KIND: if (take) begin
          kind <= request;
          tag <= 32'b0;
          has_data <= 1'b0;
          index <= 0;
          state <= request_last ? REPLY : TAG;
        end
        TAG: if (take) begin
          tag <= {request, tag[31:8]};
          index <= index == 3 ? 6'd0 : index + 1'b1;
          has_data <= !request_last;
          if (index == 3 || request_last) state <= REPLY;
        end
        REPLY: if (give) begin
          if (index != 0) tag <= {8'b0, tag[31:8]};
          index <= index == 4 ? 6'd0 : index + 1'b1;
          if (index == 4) state <= kind == IDENTIFY ? WHO : !has_data ? KIND : kind == RUN ? VECTORS : SKIP;
        end
        WHO: if (give) begin
          index <= index + 1'b1;
          if (reply_last) state <= has_data ? SKIP : KIND;
        end
        VECTORS: if (give && reply_last) state <= KIND;
        SKIP: if (take && request_last) state <= KIND;
        default: state <= KIND;
      endcase
    end
  end
endmodule

`default_nettype wire
