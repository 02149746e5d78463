// model, 32 cycles of it for each beat: TDATA is the inputs of each cycle, or the outputs before
// its edge, those of the first cycle lowest; in a cycle ports in their order, the first one lowest.
// Between two beats the inputs that are resets are 1, and all others are 0.
`default_nettype none
module model_axis (
  input  wire aclk,
  input  wire aresetn,  // synchronous, active low: drops all that is under way
  input  wire [63:0] s_axis_tdata,
  input  wire s_axis_tvalid,
  output wire s_axis_tready,
  input  wire s_axis_tlast,
  input  wire s_axis_tuser,
  output wire [191:0] m_axis_tdata,
  output wire m_axis_tvalid,
  input  wire m_axis_tready,
  output wire m_axis_tlast,
  output wire m_axis_tuser
);
  reg  [63:0] given;
  reg  [191:0] results;
  reg  [4:0] left;  // cycles after this one
  reg  running, done, last;
  wire [1:0] core_inp = running ? given[1:0] : 2'h1;
  wire [5:0] core_out;
  
  model core (
    .clk(aclk),
    .rst(core_inp[0:0]),
    .en(core_inp[1:1]),
    .y(core_out[5:0])
  );
  
  assign s_axis_tready = !running && !done;
  assign m_axis_tvalid = done;
  assign m_axis_tdata = results;
  assign m_axis_tlast = last;
  assign m_axis_tuser = 1'b0;
  wire unused_inp = &{1'b0, s_axis_tuser, core_inp};
  
  always @(posedge aclk) begin
    if (!aresetn) begin
      running <= 1'b0;
      done <= 1'b0;
    end else if (running) begin
      running <= left != 0;
      done <= left == 0;
    end else if (done) done <= !m_axis_tready;
    else running <= s_axis_tvalid;
  end
  always @(posedge aclk) begin
    if (running) begin
      given <= given >> 2;
      results <= {core_out, results[191:6]};
      left <= left - 1'b1;
    end else if (s_axis_tready) begin
      given <= s_axis_tdata[63:0];
      last <= s_axis_tlast;
      left <= 5'd31;
    end
  end
endmodule
`default_nettype wire
