// AXI4-Stream shell for a DAIS core, which is instantiated outside: core_inp, core_out and core_en connect to it.
//
//   s_axis --> skid buffer --> core_inp -> core -> core_out --> m_axis
//                         \--> TVALID, TLAST, TUSER: LATENCY registers --/
//
// A beat is a vector: TDATA holds the bits of the core's port, element 0 in the least significant bits, padded
// to whole bytes above. Pad bits are ignored at s_axis and 0 at m_axis. TLAST and TUSER travel with their beat.
//
// LATENCY is that of the core, in clocks: core_inp driven before edge t, core_out sampled at edge t + LATENCY.
// A core with LATENCY > 0 holds all its registers while core_en is 0; it needs no reset, because
// validity is tracked here. With LATENCY = 0 the core is combinational and its output is registered here.
//
// One beat per clock. A beat taken at s_axis at edge t is offered at m_axis to edge t + 1 + max(LATENCY, 1).
// s_axis_tready is a register: no combinational path leads from m_axis to s_axis, nor from s_axis to m_axis.
// aresetn is synchronous and active low, and drops everything in flight.
`default_nettype none

module dais_axis #(
  parameter IN_BITS   = 8,  // of the core's input port, at least 1
  parameter OUT_BITS  = 8,  // of the core's output port, at least 1
  parameter LATENCY   = 0,
  parameter USER_BITS = 1   // of TUSER; 0: the ports are one bit wide, ignored at s_axis and 0 at m_axis
) (
  input  wire                                   aclk,
  input  wire                                   aresetn,

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

  output wire [IN_BITS-1:0]                     core_inp,
  input  wire [OUT_BITS-1:0]                    core_out,
  output wire                                   core_en
);
  localparam STAGES = LATENCY > 0 ? LATENCY : 1;
  localparam OUT_PAD = 8*((OUT_BITS+7)/8) - OUT_BITS;
  localparam SIDE = USER_BITS + 1;  // TUSER, TLAST

  wire [SIDE-1:0]     s_side, side_in, side_out;
  wire                valid_in, valid_out;
  wire [OUT_BITS-1:0] result;

  // The whole pipeline advances unless a beat waits at m_axis; then all of it stalls, including the core.
  wire enable = !valid_out || m_axis_tready;
  assign core_en = enable;

  generate
    if (USER_BITS > 0) begin : with_user
      assign s_side = {s_axis_tuser, s_axis_tlast};
      assign m_axis_tuser = side_out[SIDE-1:1];
    end else begin : without_user
      assign s_side = s_axis_tlast;
      assign m_axis_tuser = 1'b0;
      wire unused_user = &{1'b0, s_axis_tuser};
    end
  endgenerate

  dais_skid #(.WIDTH(IN_BITS + SIDE)) skid (
    .clk(aclk),
    .resetn(aresetn),
    .s_data({s_axis_tdata[IN_BITS-1:0], s_side}),
    .s_valid(s_axis_tvalid),
    .s_ready(s_axis_tready),
    .m_data({core_inp, side_in}),
    .m_valid(valid_in),
    .m_ready(enable)
  );

  // Sideband pipeline parallel to the core, youngest stage in the least significant bits.
  reg  [STAGES-1:0]          valid;
  reg  [STAGES*SIDE-1:0]     side;
  wire [STAGES:0]            valid_next = {valid, valid_in};
  wire [(STAGES+1)*SIDE-1:0] side_next  = {side, side_in};

  assign valid_out = valid_next[STAGES];
  assign side_out  = side_next[STAGES*SIDE +: SIDE];

  always @(posedge aclk) begin
    if (!aresetn) valid <= {STAGES{1'b0}};
    else if (enable) valid <= valid_next[STAGES-1:0];
  end

  always @(posedge aclk) begin
    if (enable) side <= side_next[STAGES*SIDE-1:0];
  end

  generate
    if (LATENCY == 0) begin : registered
      reg [OUT_BITS-1:0] held;
      always @(posedge aclk) if (enable) held <= core_out;
      assign result = held;
    end else begin : direct
      assign result = core_out;
    end

    if (OUT_PAD > 0) begin : padded
      assign m_axis_tdata = {{OUT_PAD{1'b0}}, result};
    end else begin : whole
      assign m_axis_tdata = result;
    end

    // Pad bits of the input are ignored.
    if (8*((IN_BITS+7)/8) > IN_BITS) begin : input_pad
      wire unused_pad = &{1'b0, s_axis_tdata[8*((IN_BITS+7)/8)-1:IN_BITS]};
    end
  endgenerate

  assign m_axis_tvalid = valid_out;
  assign m_axis_tlast  = side_out[0];
endmodule

`default_nettype wire
