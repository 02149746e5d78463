// What is proved of dais_axis around a core, for any behaviour of both sides and resets at any time. The core XORs its
// input with any constant and keeps its registers while core_en is 0. See docs/emit.md4-stream.
//
// One beat is followed: the n-th since a reset, modulo 16, for an arbitrary n. No two of 16 can be confused, as the shell
// never holds more than LATENCY + 2 or 3.
//
// With SWITCH defined the streams pass dais_selfcheck, which may be started and told to give up at any time: all holds as
// before, for the stream of the outside.
`default_nettype none

module axis_proof #(
  parameter LATENCY = 0
) (
  input wire       aclk,
  input wire       aresetn,
  input wire [7:0] s_axis_tdata,
  input wire       s_axis_tvalid,
  input wire       s_axis_tlast,
  input wire [1:0] s_axis_tuser,
  input wire       m_axis_tready
);
  localparam BITS = 3;
  localparam STAGES = LATENCY > 0 ? LATENCY : 1;

  wire            s_axis_tready, m_axis_tvalid, m_axis_tlast, core_en;
  wire [7:0]      m_axis_tdata;
  wire [1:0]      m_axis_tuser;
  wire [BITS-1:0] core_inp, core_out;

  wire       to_tvalid, to_tready, to_tlast, from_tvalid, from_tready, from_tlast;
  wire [7:0] to_tdata, from_tdata;
  wire [1:0] to_tuser, from_tuser;

  dais_axis #(.IN_BITS(BITS), .OUT_BITS(BITS), .LATENCY(LATENCY), .USER_BITS(2)) dut (
    .aclk(aclk), .aresetn(aresetn),
    .s_axis_tdata(to_tdata), .s_axis_tvalid(to_tvalid), .s_axis_tready(to_tready),
    .s_axis_tlast(to_tlast), .s_axis_tuser(to_tuser),
    .m_axis_tdata(from_tdata), .m_axis_tvalid(from_tvalid), .m_axis_tready(from_tready),
    .m_axis_tlast(from_tlast), .m_axis_tuser(from_tuser),
    .core_inp(core_inp), .core_out(core_out), .core_en(core_en)
  );

  wire idle, checking;  // the streams pass; vectors of a self-check are in the shell
`ifdef SWITCH
  (* anyseq *) reg start, give_up;
  (* anyseq *) reg [31:0] beats;
  wire waiting, busy, done;
  wire [31:0] signature;
  dais_selfcheck #(.IN_BITS(BITS), .OUT_BITS(BITS), .USER_BITS(2)) switch (
    .aclk(aclk), .aresetn(aresetn),
    .s_axis_tdata(s_axis_tdata), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
    .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
    .m_axis_tdata(m_axis_tdata), .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready),
    .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
    .to_tdata(to_tdata), .to_tvalid(to_tvalid), .to_tready(to_tready), .to_tlast(to_tlast), .to_tuser(to_tuser),
    .from_tdata(from_tdata), .from_tvalid(from_tvalid), .from_tready(from_tready), .from_tlast(from_tlast),
    .from_tuser(from_tuser),
    .start(start), .give_up(give_up), .beats(beats), .waiting(waiting), .busy(busy), .done(done), .signature(signature)
  );
  (* hierconn *) wire [1:0]  \switch.state ;
  (* hierconn *) wire [31:0] \switch.in_flight ;
  (* hierconn *) wire [31:0] \switch.to_send ;
  (* hierconn *) wire [31:0] \switch.to_come ;
  // As dais_axil keeps it.
  reg [31:0] beats_before;
  always @(posedge aclk) beats_before <= beats;
  always @* if (busy) assume (beats == beats_before);
  assign idle = \switch.state == 0;
  assign checking = \switch.state >= 2;
`else
  assign {to_tdata, to_tvalid, to_tlast, to_tuser} = {s_axis_tdata, s_axis_tvalid, s_axis_tlast, s_axis_tuser};
  assign {m_axis_tdata, m_axis_tvalid, m_axis_tlast, m_axis_tuser} = {from_tdata, from_tvalid, from_tlast, from_tuser};
  assign s_axis_tready = to_tready;
  assign from_tready = m_axis_tready;
  assign idle = 1'b1;
  assign checking = 1'b0;
`endif

  (* anyconst *) reg [BITS-1:0] key;
  // The value that belongs to each stage, youngest in the least significant bits; of the shell if LATENCY is 0.
  (* hierconn *) wire [BITS-1:0] \dut.registered.held ;
  wire [BITS*STAGES-1:0] values;
  genvar i;
  generate
    if (LATENCY == 0) begin : combinational
      assign core_out = core_inp ^ key;
      assign values = \dut.registered.held ;
    end else begin : pipelined
      reg [BITS*STAGES-1:0] layers;
      wire [BITS*(STAGES+1)-1:0] moved = {layers, core_inp ^ key};
      always @(posedge aclk) if (core_en) layers <= moved[BITS*STAGES-1:0];
      assign core_out = layers[BITS*STAGES-1 -: BITS];
      assign values = layers;
    end
  endgenerate

  // Registers of the shell, for what induction must know of them: {TDATA, TUSER, TLAST}.
  (* hierconn *) wire                \dut.skid.full ;
  (* hierconn *) wire [BITS+2:0]     \dut.skid.spare ;
  (* hierconn *) wire [BITS+2:0]     \dut.skid.m_data ;
  (* hierconn *) wire                \dut.skid.m_valid ;
  (* hierconn *) wire [STAGES-1:0]   \dut.valid ;
  (* hierconn *) wire [3*STAGES-1:0] \dut.side ;

  (* anyconst *) reg [3:0] n;
  reg [3:0]      taken, given;
  reg [BITS+2:0] followed;
  wire [BITS+2:0] result = {followed[BITS+2:3] ^ key, followed[2:0]};
  wire [3:0] held = taken - given;

  reg begun = 1'b0;
  always @(posedge aclk) begun <= 1'b1;
  always @* if (!begun) assume (!aresetn);

  // Clocks that a beat has been on its way while none was offered.
  reg [3:0] waited;

  always @(posedge aclk) begin
    if (!aresetn) begin
      taken <= 0;
      given <= 0;
      waited <= 0;
    end else begin
      if (s_axis_tvalid && s_axis_tready) begin
        taken <= taken + 1;
        if (taken == n) followed <= {s_axis_tdata[BITS-1:0], s_axis_tuser, s_axis_tlast};
      end
      if (m_axis_tvalid && m_axis_tready) given <= given + 1;
      waited <= held != 0 && !m_axis_tvalid ? waited + 1 : 0;
    end
  end

  // What a user relies on.
  wire [10:0] payload = {m_axis_tdata, m_axis_tuser, m_axis_tlast};
  always @(posedge aclk) if (begun) begin
    if (!$past(aresetn)) begin
      dropped_by_reset: assert (!m_axis_tvalid && !s_axis_tready);
    end else begin
      if ($past(m_axis_tvalid && !m_axis_tready)) begin
        valid_holds:    assert (m_axis_tvalid);
        payload_holds:  assert (payload == $past(payload));
      end
      // While the receiver takes what is offered, there is room: every clock can carry a beat.
      if ($past(m_axis_tready) && $past(aresetn, 2) && $past(m_axis_tready, 2) && idle)
        room_is_offered: assert (s_axis_tready);
    end
    if (m_axis_tvalid) begin
      pad_is_zero:      assert (m_axis_tdata[7:BITS] == 0);
      not_made_up:      assert (held != 0);
      // In order, once, unchanged, with its own TUSER and TLAST.
      if (given == n) followed_comes_out: assert ({m_axis_tdata[BITS-1:0], m_axis_tuser, m_axis_tlast} == result);
    end
    // What was taken is offered after 1 + STAGES clocks at the latest, so nothing is lost.
    held_is_offered:    assert (waited <= STAGES);
  end

`ifndef CONTRACT_ONLY
  // What makes it inductive: every beat that is held is where it should be. (No name in a loop.)
  integer j;
  reg [3:0] ahead, distance;
  always @(posedge aclk) if (begun) begin
    ahead = 0;
    distance = 0;
    for (j = STAGES - 1; j >= 0; j = j - 1) begin
      if (\dut.valid [j]) begin
        if (given + ahead == n && !checking) assert ({values[BITS*j +: BITS], \dut.side [3*j +: 3]} == result);
        ahead = ahead + 1;
      end
      if (ahead == 0) distance = distance + 1;
    end
    if (\dut.skid.m_valid ) begin
      if (given + ahead == n && !checking) skid_is_right: assert (\dut.skid.m_data == followed);
      ahead = ahead + 1;
    end
    if (\dut.skid.full ) begin
      if (given + ahead == n && !checking) spare_is_right: assert (\dut.skid.spare == followed);
      ahead = ahead + 1;
    end
    count_is_right:     assert (held == (checking ? 0 : ahead));
    full_means_both:    assert (!\dut.skid.full || (\dut.skid.m_valid && !to_tready));
    ready_unless_full:  assert (to_tready || \dut.skid.full || !$past(aresetn));
`ifdef SWITCH
    flight_is_right:    assert (\switch.in_flight == ahead);
    check_is_right:     assert (\switch.state != 2 || (\switch.to_come != 0 && \switch.to_come >= \switch.to_send
                                && \switch.to_come - \switch.to_send == \switch.in_flight ));
    beats_are_some:     assert (\switch.state != 1 || beats_before != 0);
    fold_is_right:      assert (\switch.state != 3 || \switch.in_flight == 0);
`endif
    front_moves_on:     assert (held == 0 || m_axis_tvalid || waited + distance <= STAGES);
  end
`endif

  // None of it is empty talk.
  always @(posedge aclk) if (begun) begin
    cover_full:      cover (held == STAGES + 2);
    cover_followed:  cover (m_axis_tvalid && m_axis_tready && given == n && n == 3 && \dut.skid.full );
    cover_reset:     cover ($past(begun && held == STAGES + 2 && !aresetn) && taken == 0);
`ifdef SWITCH
    cover_check:     cover (given > 1 && held == 2 && idle && done && $past(idle));
    cover_give_up:   cover (held == 2 && idle && $past(waiting && give_up));
`endif
    cover_bubble:    cover (waited == STAGES);
  end
endmodule

`default_nettype wire
