// AXI4-Lite registers of a wrapped core: identification, counters and self-check.
//
//   0x00 MAGIC      0x44414953, "DAIS"           0x24 USER_BITS
//   0x04 VERSION    of this map, 0x00010000      0x28 CHECK_BEATS  vectors of a self-check; read and write
//   0x08 CONTROL    write 1: bit 0 START, bit 1 GIVE_UP, bit 2 CLEAR (counters); reads 0
//   0x0C STATUS     bit 0 BUSY, bit 1 DONE, bit 2 WAITING (the stream drains first)
//   0x10 N_IN       0x14 N_OUT                   0x2C SIGNATURE    of the last self-check, valid when DONE
//   0x18 IN_BITS    0x1C OUT_BITS                0x40..0x5C HASH   of the program, first word first
//   0x20 LATENCY    of the core
//   0x60 BEATS_IN   0x68 BEATS_OUT   0x70 STALLS_IN   0x78 STALLS_OUT   0x80 PACKETS
//
// Counters have 64 bits; reading the low word latches the high word, at the next address, until it is read. A stall is
// a clock with TVALID and without TREADY; a packet is a TLAST sent. A self-check counts as stalls, not as beats.
// Other accesses return SLVERR and have no effect: unknown addresses, writes to read-only words or, while BUSY, to
// CHECK_BEATS; START while BUSY or with CHECK_BEATS 0. No output depends on an input without a register between them.
`default_nettype none

module dais_axil #(
  parameter         IN_BITS   = 8,
  parameter         OUT_BITS  = 8,
  parameter         LATENCY   = 0,
  parameter         USER_BITS = 1,
  parameter         N_IN      = 1,
  parameter         N_OUT     = 1,
  parameter [255:0] HASH      = 256'd0
) (
  input  wire        aclk,
  input  wire        aresetn,

  input  wire [7:0]  s_axil_awaddr,
  input  wire [2:0]  s_axil_awprot,
  input  wire        s_axil_awvalid,
  output wire        s_axil_awready,
  input  wire [31:0] s_axil_wdata,
  input  wire [3:0]  s_axil_wstrb,
  input  wire        s_axil_wvalid,
  output wire        s_axil_wready,
  output reg  [1:0]  s_axil_bresp,
  output reg         s_axil_bvalid,
  input  wire        s_axil_bready,
  input  wire [7:0]  s_axil_araddr,
  input  wire [2:0]  s_axil_arprot,
  input  wire        s_axil_arvalid,
  output wire        s_axil_arready,
  output reg  [31:0] s_axil_rdata,
  output reg  [1:0]  s_axil_rresp,
  output reg         s_axil_rvalid,
  input  wire        s_axil_rready,

  // external streams, to be counted
  input  wire        s_axis_tvalid,
  input  wire        s_axis_tready,
  input  wire        m_axis_tvalid,
  input  wire        m_axis_tready,
  input  wire        m_axis_tlast,

  // dais_selfcheck
  output reg         start,
  output reg         give_up,
  output reg  [31:0] beats,
  input  wire        waiting,
  input  wire        busy,
  input  wire        done,
  input  wire [31:0] signature
);
  localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;
  localparam [5:0] CONTROL = 6'h02, CHECK_BEATS = 6'h0A;  // addresses of words

  // Writes: address and data wait for each other; the write is done once both have arrived.
  reg        have_address, have_data;
  reg [5:0]  address;
  reg [31:0] data;
  reg [3:0]  strobe;

  assign s_axil_awready = !have_address;
  assign s_axil_wready  = !have_data;

  wire write       = have_address && have_data && !s_axil_bvalid;
  wire controlling = write && address == CONTROL && strobe[0];
  wire free        = !busy && !start;
  wire may_start   = free && beats != 32'd0;
  wire setting     = write && address == CHECK_BEATS && free;
  wire clear       = controlling && data[2];

  always @(posedge aclk) begin
    if (!aresetn) begin
      have_address  <= 1'b0;
      have_data     <= 1'b0;
      s_axil_bvalid <= 1'b0;
      start         <= 1'b0;
      give_up       <= 1'b0;
      beats         <= 32'd0;
    end else begin
      start <= controlling && data[0] && may_start;
      give_up <= controlling && data[1];
      if (s_axil_awvalid && s_axil_awready) have_address <= 1'b1;
      if (s_axil_wvalid && s_axil_wready) have_data <= 1'b1;
      if (write) begin
        have_address  <= 1'b0;
        have_data     <= 1'b0;
        s_axil_bvalid <= 1'b1;
      end else if (s_axil_bready) s_axil_bvalid <= 1'b0;
      if (setting) begin
        if (strobe[0]) beats[7:0]   <= data[7:0];
        if (strobe[1]) beats[15:8]  <= data[15:8];
        if (strobe[2]) beats[23:16] <= data[23:16];
        if (strobe[3]) beats[31:24] <= data[31:24];
      end
    end
  end

  always @(posedge aclk) begin
    if (s_axil_awready) address <= s_axil_awaddr[7:2];
    if (s_axil_wready) {strobe, data} <= {s_axil_wstrb, s_axil_wdata};
    if (write) begin
      if (address == CONTROL) s_axil_bresp <= controlling && data[0] && !may_start ? SLVERR : OKAY;
      else s_axil_bresp <= setting ? OKAY : SLVERR;
    end
  end

  // Counters, delayed by one clock.
  localparam COUNTERS = 5;
  wire [511:0]           counts;
  reg  [COUNTERS-1:0]    events;

  always @(posedge aclk) begin
    events <= {
      m_axis_tvalid && m_axis_tready && m_axis_tlast,
      m_axis_tvalid && !m_axis_tready,
      s_axis_tvalid && !s_axis_tready,
      m_axis_tvalid && m_axis_tready,
      s_axis_tvalid && s_axis_tready
    };
  end

  genvar i;
  generate
    for (i = 0; i < COUNTERS; i = i + 1) begin : counter
      reg [63:0] count;
      always @(posedge aclk) begin
        if (!aresetn || clear) count <= 64'd0;
        else if (events[i]) count <= count + 64'd1;
      end
      assign counts[64*i +: 64] = count;
    end
    assign counts[511:64*COUNTERS] = {(512 - 64*COUNTERS){1'b0}};
  endgenerate

  // Reads.
  wire [5:0]  word     = s_axil_araddr[7:2];
  wire        reading  = s_axil_arvalid && s_axil_arready;
  wire        in_hash  = word[5:3] == 3'b010;
  wire        in_count = word >= 6'h18 && word < 6'h18 + 2*COUNTERS;
  wire [2:0]  which    = word[3:1] - 3'd4;
  wire [63:0] count    = counts[{which, 6'd0} +: 64];
  reg  [31:0] upper;
  reg  [31:0] value;
  reg         known;

  always @* begin
    known = 1'b1;
    value = 32'd0;
    case (word)
      6'h00: value = 32'h44414953;
      6'h01: value = 32'h00010000;
      CONTROL: value = 32'd0;
      6'h03: value = {29'd0, waiting, done, busy};
      6'h04: value = N_IN;
      6'h05: value = N_OUT;
      6'h06: value = IN_BITS;
      6'h07: value = OUT_BITS;
      6'h08: value = LATENCY;
      6'h09: value = USER_BITS;
      CHECK_BEATS: value = beats;
      6'h0B: value = signature;
      default: begin
        known = in_hash || in_count;
        if (in_hash) value = HASH[{~word[2:0], 5'd0} +: 32];
        else if (in_count) value = word[0] ? upper : count[31:0];
      end
    endcase
  end

  assign s_axil_arready = !s_axil_rvalid;

  always @(posedge aclk) begin
    if (!aresetn) s_axil_rvalid <= 1'b0;
    else if (reading) s_axil_rvalid <= 1'b1;
    else if (s_axil_rready) s_axil_rvalid <= 1'b0;
  end

  always @(posedge aclk) begin
    if (reading) begin
      s_axil_rdata <= value;
      s_axil_rresp <= known ? OKAY : SLVERR;
      if (in_count && !word[0]) upper <= count[63:32];
    end
  end

  wire unused = &{1'b0, s_axil_awprot, s_axil_arprot, s_axil_awaddr[1:0], s_axil_araddr[1:0]};
endmodule

`default_nettype wire
