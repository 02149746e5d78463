// What is proved of dais_deframer, for any bytes of the link, any pauses of the reader and resets at any time.
//
// That a frame is whole and its CRC right is told by tests; here: what is kept of frames is neither lost nor spoilt by
// what comes after them, however little room there is.
`default_nettype none

module deframer_proof #(
  parameter BUFFER_BITS = 2
) (
  input wire       clk,
  input wire       resetn,
  input wire [7:0] rx_data,
  input wire       rx_valid,
  input wire       out_ready
);
  localparam [BUFFER_BITS:0] ROOM = 1 << BUFFER_BITS;
  wire [7:0] out_data;
  wire       out_last, out_valid;

  dais_deframer #(.BUFFER_BITS(BUFFER_BITS), .LEAST(6)) dut (
    .clk(clk), .resetn(resetn), .rx_data(rx_data), .rx_valid(rx_valid),
    .out_data(out_data), .out_last(out_last), .out_valid(out_valid), .out_ready(out_ready)
  );

  (* hierconn *) wire [BUFFER_BITS:0] \dut.head ;
  (* hierconn *) wire [BUFFER_BITS:0] \dut.committed ;
  (* hierconn *) wire [BUFFER_BITS:0] \dut.tail ;
  (* hierconn *) wire [BUFFER_BITS:0] \dut.place ;
  (* hierconn *) wire                 \dut.write ;
  (* hierconn *) wire                 \dut.ends ;
  (* hierconn *) wire                 \dut.good ;
  (* hierconn *) wire                 \dut.fetch ;
  wire [BUFFER_BITS:0] kept  = \dut.committed - \dut.tail ;
  wire [BUFFER_BITS:0] begun_too = \dut.head - \dut.tail ;
  wire [BUFFER_BITS:0] at = \dut.place - \dut.tail ;

  reg begun = 1'b0;
  always @(posedge clk) begun <= 1'b1;
  always @* if (!begun) assume (!resetn);

  // What a user relies on.
  always @(posedge clk) if (begun) begin
    if (!$past(resetn)) begin
      dropped_by_reset: assert (!out_valid && kept == 0 && begun_too == 0);
    end else if ($past(out_valid && !out_ready)) begin
      valid_holds:   assert (out_valid);
      payload_holds: assert (out_data == $past(out_data) && out_last == $past(out_last));
    end
    if (resetn && \dut.fetch ) only_whole_frames: assert (kept != 0);
    if (resetn && \dut.write ) kept_is_not_spoilt: assert (at >= kept && at < ROOM);
    if ($past(resetn) && resetn) begin
      // Nothing is handed out before the end of its frame.
      if (!$past(\dut.ends )) only_ends_add: assert (\dut.committed == $past(\dut.committed ));
      if ($past(\dut.ends && !\dut.good ))
        bad_is_one_byte: assert (\dut.committed == $past(\dut.committed ) + $past(\dut.write ));
      if ($past(\dut.ends )) begins_afresh: assert (\dut.head == \dut.committed );
    end
  end

`ifndef CONTRACT_ONLY
  // What makes it inductive.
  always @(posedge clk) if (begun) begin
    kept_fits:      assert (kept <= ROOM);
    begun_fits:     assert (begun_too <= ROOM);
    kept_is_begun:  assert (kept <= begun_too);
  end
`endif

  // None of it is empty talk.
  always @(posedge clk) if (begun && resetn) begin
    cover_bad:   cover (out_valid && out_ready && out_last && out_data == 8'h7F && kept == 2);
    cover_full:  cover (kept == ROOM - 1);
    cover_good:  cover ($past(\dut.ends && \dut.good && \dut.write ) && kept == 3);
  end
endmodule

`default_nettype wire
