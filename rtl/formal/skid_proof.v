// What is proved of dais_skid, for any behaviour of both sides and resets at any time. See docs/emit.md4-stream.
//
// One beat is followed: the n-th since a reset, modulo 16, for an arbitrary n. No two of 16 can be confused, as the buffer
// never holds more than two.
`default_nettype none

module skid_proof #(
  parameter WIDTH = 4
) (
  input wire             clk,
  input wire             resetn,
  input wire [WIDTH-1:0] s_data,
  input wire             s_valid,
  input wire             m_ready
);
  wire             s_ready, m_valid;
  wire [WIDTH-1:0] m_data;

  dais_skid #(.WIDTH(WIDTH)) dut (
    .clk(clk), .resetn(resetn),
    .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
    .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready)
  );

  // Registers of the buffer, for what induction must know of them.
  (* hierconn *) wire             \dut.full ;
  (* hierconn *) wire [WIDTH-1:0] \dut.spare ;

  (* anyconst *) reg [3:0] n;
  reg [3:0]       taken, given;
  reg [WIDTH-1:0] followed;
  wire [3:0] held = taken - given;

  reg begun = 1'b0;
  always @(posedge clk) begun <= 1'b1;
  always @* if (!begun) assume (!resetn);

  always @(posedge clk) begin
    if (!resetn) begin
      taken <= 0;
      given <= 0;
    end else begin
      if (s_valid && s_ready) begin
        taken <= taken + 1;
        if (taken == n) followed <= s_data;
      end
      if (m_valid && m_ready) given <= given + 1;
    end
  end

  // What a user relies on.
  always @(posedge clk) if (begun) begin
    if (!$past(resetn)) begin
      dropped_by_reset: assert (!m_valid && !s_ready);
    end else begin
      if ($past(m_valid && !m_ready)) begin
        valid_holds:    assert (m_valid);
        payload_holds:  assert (m_data == $past(m_data));
      end
      // Neither lost nor made up: what is held is offered. Room is offered as well, so every clock can carry a beat.
      held_is_offered:  assert (m_valid == (held != 0));
      room_is_offered:  assert (s_ready == (held < 2));
    end
    // In order, once, unchanged.
    if (m_valid && given == n) followed_comes_out: assert (m_data == followed);
  end

`ifndef CONTRACT_ONLY
  // What makes it inductive.
  always @(posedge clk) if (begun) begin
    count_is_right:     assert (held == {3'd0, m_valid} + {3'd0, \dut.full });
    full_means_both:    assert (!\dut.full || (m_valid && !s_ready));
    if (\dut.full && given + 4'd1 == n) spare_is_next: assert (\dut.spare == followed);
  end
`endif

  // None of it is empty talk.
  always @(posedge clk) if (begun) begin
    cover_full:      cover (\dut.full && given == 5);
    cover_followed:  cover (m_valid && m_ready && given == n && n == 3 && $past(\dut.full ));
    cover_reset:     cover ($past(begun && m_valid && !resetn) && taken == 0);
  end
endmodule

`default_nettype wire
