// Stream switch around dais_axis that checks the core without a host, at full speed.
//
// When idle, both streams pass unchanged. After `start` the input is blocked, beats in flight leave by m_axis, then
// `beats` pseudo-random vectors run through the core, one per clock, and their outputs are folded into `signature`,
// which the host compares with the one computed from the golden model.
//
// Everything is based on one step, next(x): x ^= x << 13; x ^= x >> 17; x ^= x << 5 on 32 bits (xorshift32), linear and
// one-to-one, so that a single wrong beat is always detected.
//   stimulus   32-bit lane i of TDATA begins as (i+1) * 0x9E3779B9 mod 2^32; lane <= next(lane) after each beat
//   outputs    lanes of 32 bits, initially all ones; lane i <= next(lane i-1) ^ bits 32i+31..32i of TDATA, where the
//              lane before lane 0 is the last one
//   signature  0, then for lane 0 and up: signature <= next(signature) ^ lane
`default_nettype none

module dais_selfcheck #(
  parameter IN_BITS   = 8,
  parameter OUT_BITS  = 8,
  parameter USER_BITS = 1
) (
  input  wire                                   aclk,
  input  wire                                   aresetn,

  // external streams
  input  wire [8*((IN_BITS+7)/8)-1:0]           s_axis_tdata,
  input  wire                                   s_axis_tvalid,
  output wire                                   s_axis_tready,
  input  wire                                   s_axis_tlast,
  input  wire [(USER_BITS>0 ? USER_BITS:1)-1:0] s_axis_tuser,
  output wire [8*((OUT_BITS+7)/8)-1:0]          m_axis_tdata,
  output wire                                   m_axis_tvalid,
  input  wire                                   m_axis_tready,
  output wire                                   m_axis_tlast,
  output wire [(USER_BITS>0 ? USER_BITS:1)-1:0] m_axis_tuser,

  // to s_axis and from m_axis of the shell
  output wire [8*((IN_BITS+7)/8)-1:0]           to_tdata,
  output wire                                   to_tvalid,
  input  wire                                   to_tready,
  output wire                                   to_tlast,
  output wire [(USER_BITS>0 ? USER_BITS:1)-1:0] to_tuser,
  input  wire [8*((OUT_BITS+7)/8)-1:0]          from_tdata,
  input  wire                                   from_tvalid,
  output wire                                   from_tready,
  input  wire                                   from_tlast,
  input  wire [(USER_BITS>0 ? USER_BITS:1)-1:0] from_tuser,

  input  wire                                   start,  // for one clock; ignored unless idle and beats > 0
  input  wire                                   give_up,  // aborts waiting for the stream to drain
  input  wire [31:0]                            beats,  // must be stable while busy
  output wire                                   waiting,
  output wire                                   busy,
  output reg                                    done,   // `signature` holds the result of the last check
  output reg  [31:0]                            signature
);
  localparam IN_BYTES  = (IN_BITS+7)/8;
  localparam OUT_BYTES = (OUT_BITS+7)/8;
  localparam IN_LANES  = (IN_BYTES+3)/4;
  localparam OUT_LANES = (OUT_BYTES+3)/4;

  localparam [1:0] IDLE = 2'd0, DRAIN = 2'd1, CHECK = 2'd2, FOLD = 2'd3;

  function [31:0] next(input [31:0] x);
    reg [31:0] a, b;
    begin
      a = x ^ (x << 13);
      b = a ^ (a >> 17);
      next = b ^ (b << 5);
    end
  endfunction

  reg [1:0]  state;
  reg [31:0] to_send, to_come;
  reg [31:0] in_flight;
  reg [31:0] to_fold;

  wire idle     = state == IDLE;
  wire checking = state == CHECK;
  wire sent     = to_tvalid && to_tready;
  wire came     = from_tvalid && from_tready;

  assign busy    = !idle;
  assign waiting = state == DRAIN;

  // The switch. It is separated from the external streams by registers only.
  reg  [32*IN_LANES-1:0]  stimulus;
  assign s_axis_tready = idle && to_tready;
  assign to_tvalid     = checking ? to_send != 32'd0 : idle && s_axis_tvalid;
  assign to_tdata      = checking ? stimulus[8*IN_BYTES-1:0] : s_axis_tdata;
  assign to_tlast      = !checking && s_axis_tlast;
  assign to_tuser      = s_axis_tuser;
  assign m_axis_tvalid = !checking && from_tvalid;
  assign from_tready   = checking || m_axis_tready;
  assign m_axis_tdata  = from_tdata;
  assign m_axis_tlast  = from_tlast;
  assign m_axis_tuser  = from_tuser;

  always @(posedge aclk) begin
    if (!aresetn) begin
      state     <= IDLE;
      done      <= 1'b0;
      in_flight <= 32'd0;
    end else begin
      in_flight <= in_flight + {31'd0, sent} - {31'd0, came};
      case (state)
        IDLE: if (start && beats != 32'd0) begin
          state <= DRAIN;
          done  <= 1'b0;
        end
        DRAIN: if (in_flight == 32'd0) state <= CHECK;
               else if (give_up) state <= IDLE;
        CHECK: if (came && to_come == 32'd1) state <= FOLD;
        default: if (to_fold == 32'd1) begin
          state <= IDLE;
          done  <= 1'b1;
        end
      endcase
    end
  end

  always @(posedge aclk) begin
    if (waiting) begin
      to_send <= beats;
      to_come <= beats;
      to_fold <= OUT_LANES;
    end else begin
      if (checking && sent) to_send <= to_send - 32'd1;
      if (checking && came) to_come <= to_come - 32'd1;
      if (state == FOLD) to_fold <= to_fold - 32'd1;
    end
  end

  // Stimulus.
  genvar i;
  generate
    for (i = 0; i < IN_LANES; i = i + 1) begin : lane_in
      localparam [31:0] FIRST = (i + 1) * 32'h9E3779B9;
      always @(posedge aclk) begin
        if (waiting) stimulus[32*i +: 32] <= FIRST;
        else if (sent) stimulus[32*i +: 32] <= next(stimulus[32*i +: 32]);
      end
    end
  endgenerate

  // Outputs; shifted down one lane at a time for folding.
  reg  [32*OUT_LANES-1:0] folded;
  wire [32*OUT_LANES-1:0] found;

  generate
    if (32*OUT_LANES > 8*OUT_BYTES) begin : part_of_a_lane
      assign found = {{(32*OUT_LANES - 8*OUT_BYTES){1'b0}}, from_tdata};
    end else begin : whole_lanes
      assign found = from_tdata;
    end

    for (i = 0; i < OUT_LANES; i = i + 1) begin : lane_out
      localparam BEFORE = (i + OUT_LANES - 1) % OUT_LANES;
      localparam AFTER  = (i + 1) % OUT_LANES;
      always @(posedge aclk) begin
        if (waiting) folded[32*i +: 32] <= 32'hFFFFFFFF;
        else if (state == FOLD) folded[32*i +: 32] <= folded[32*AFTER +: 32];
        else if (checking && came) folded[32*i +: 32] <= next(folded[32*BEFORE +: 32]) ^ found[32*i +: 32];
      end
    end

    if (32*IN_LANES > 8*IN_BYTES) begin : rest_of_stimulus
      wire unused_stimulus = &{1'b0, stimulus[32*IN_LANES-1:8*IN_BYTES]};
    end
  endgenerate

  always @(posedge aclk) begin
    if (!aresetn || waiting) signature <= 32'd0;
    else if (state == FOLD) signature <= next(signature) ^ folded[31:0];
  end
endmodule

`default_nettype wire
