// What is proved of dais_bridge, for any bytes of the host, any shell that keeps the rules of AXI4-Stream, any pauses
// of all three, and resets at any time.
`default_nettype none

module bridge_proof #(
  parameter IN_BITS = 9,
  parameter OUT_BITS = 9
) (
  input wire        clk,
  input wire        resetn,
  input wire [7:0]  rx_data,
  input wire        rx_valid,
  input wire        tx_ready,
  input wire        vector_tready,
  input wire [8*((OUT_BITS+7)/8)-1:0] result_tdata,
  input wire        result_tvalid,
  input wire        result_tlast
);
  wire [8*((IN_BITS+7)/8)-1:0] vector_tdata;
  wire [7:0] tx_data;
  wire vector_tvalid, vector_tlast, result_tready, rx_ready, tx_valid;

  dais_bridge #(.IN_BITS(IN_BITS), .OUT_BITS(OUT_BITS), .BUFFER_BITS(3)) dut (
    .aclk(clk), .aresetn(resetn),
    .rx_data(rx_data), .rx_valid(rx_valid), .rx_ready(rx_ready),
    .tx_data(tx_data), .tx_valid(tx_valid), .tx_ready(tx_ready),
    .vector_tdata(vector_tdata), .vector_tvalid(vector_tvalid), .vector_tready(vector_tready),
    .vector_tlast(vector_tlast), .result_tdata(result_tdata), .result_tvalid(result_tvalid),
    .result_tready(result_tready), .result_tlast(result_tlast)
  );

  (* hierconn *) wire [2:0] \dut.state ;
  (* hierconn *) wire [31:0] \dut.result_bytes ;
  (* hierconn *) wire       \dut.result_ends ;
  (* hierconn *) wire       \dut.vector_ends ;
  (* hierconn *) wire [1:0] \dut.framer.state ;
  (* hierconn *) wire       \dut.framer.escaping ;
  (* hierconn *) wire       \dut.framer.special ;

  reg begun = 1'b0;
  always @(posedge clk) begun <= 1'b1;
  always @* if (!begun) assume (!resetn);

  // The shell: a result for each vector, in order, the last one marked; what it offers it does not take back.
  reg [3:0] inside;
  reg       last_inside;
  wire enters = vector_tvalid && vector_tready, leaves = result_tvalid && result_tready;
  always @(posedge clk) begin
    if (!resetn) begin
      inside <= 0;
      last_inside <= 1'b0;
    end else begin
      inside <= inside + {3'b0, enters} - {3'b0, leaves};
      if (enters) last_inside <= vector_tlast;
      else if (leaves && result_tlast) last_inside <= 1'b0;
    end
  end
  always @(posedge clk) if (begun) begin
    assume (vector_tready == 1'b0 || inside < 4);
    if (result_tvalid) assume (inside != 0 && result_tlast == (last_inside && inside == 1));
    if ($past(resetn && result_tvalid && !result_tready))
      assume (result_tvalid && result_tdata == $past(result_tdata) && result_tlast == $past(result_tlast));
  end

  // What host and shell rely on.
  always @(posedge clk) if (begun) begin
    never_holds_up: assert (rx_ready);
    if (!$past(resetn)) begin
      dropped_by_reset: assert (!tx_valid && !vector_tvalid && !result_tready);
    end else begin
      if ($past(tx_valid && !tx_ready)) begin
        tx_valid_holds:   assert (tx_valid);
        tx_data_holds:    assert (tx_data == $past(tx_data));
      end
      if ($past(vector_tvalid && !vector_tready)) begin
        vector_holds:         assert (vector_tvalid);
        vector_payload_holds: assert (vector_tdata == $past(vector_tdata) && vector_tlast == $past(vector_tlast));
      end
    end
    // A flag within a frame would end it.
    if (tx_valid && \dut.framer.state [0] != \dut.framer.state [1]) no_flag_within: assert (tx_data != 8'h7E);
  end

`ifndef CONTRACT_ONLY
  // What makes it inductive.
  always @(posedge clk) if (begun) begin
    vectors_in_their_state: assert (\dut.state == 3'd4 || (!vector_tvalid && inside == 0 && !last_inside));
    results_in_their_state: assert (\dut.state == 3'd4 || \dut.result_bytes == 0);
    last_is_last:           assert (!last_inside || (inside != 0 && !vector_tvalid && \dut.vector_ends ));
    few_are_inside:         assert (inside <= 4);
    ended_means_empty:      assert (\dut.result_bytes == 0 || !\dut.result_ends || (inside == 0 && !vector_tvalid && \dut.vector_ends ));
    escapes_are_needed:     assert (!\dut.framer.escaping || (tx_valid && \dut.framer.special && ^\dut.framer.state ));
    states:                 assert (\dut.state <= 3'd5);
  end
`endif

  // None of it is empty talk.
  always @(posedge clk) if (begun && resetn) begin
    cover_damaged: cover (tx_valid && tx_ready && tx_data == 8'hFF);
    cover_flag:    cover (tx_valid && tx_ready && \dut.framer.state == 2'd3);
  end
endmodule

`default_nettype wire
