// model, of DAIS program 365670ede6fe93d1b4e2cc6beb8b69b837de55006fe0e70957b34d9dbe4eab8d,
// behind a byte stream on which `dais-verif hil` talks to it.
`default_nettype none
module model_uart #(
  parameter CLOCKS_PER_BIT = 1736,  // frequency of aclk / 115200 baud, for 5 ns
  parameter BUFFER_BITS = 12  // room for 2**BUFFER_BITS bytes of requests
) (
  input  wire aclk,
  input  wire aresetn,  // a button that is 0 while pressed, or 1
  input  wire uart_rx,
  output wire uart_tx
);
  // Reset after power-on, and while the button is pressed, which is no part of this clock.
  reg [7:0] awake;
  initial awake = 8'b0;
  always @(posedge aclk) awake <= {awake[6:0], aresetn};
  wire resetn = &awake[7:1];
  
  wire [7:0] rx_data, tx_data;
  wire rx_valid, rx_ready, tx_valid, tx_ready;
  dais_uart #(.CLOCKS_PER_BIT(CLOCKS_PER_BIT)) uart (
    .clk(aclk),
    .resetn(resetn),
    .uart_rx(uart_rx),
    .uart_tx(uart_tx),
    .rx_data(rx_data),
    .rx_valid(rx_valid),
    .tx_data(tx_data),
    .tx_valid(tx_valid),
    .tx_ready(tx_ready)
  );
  wire unused_ready = &{1'b0, rx_ready};  // always 1
  
  wire [63:0] vector_tdata;
  wire vector_tvalid, vector_tready, vector_tlast;
  wire [191:0] result_tdata;
  wire result_tvalid, result_tready, result_tlast;
  dais_bridge #(.IN_BITS(64), .OUT_BITS(192), .LATENCY(32), .PROGRAM(256'h365670ede6fe93d1b4e2cc6beb8b69b837de55006fe0e70957b34d9dbe4eab8d), .BUFFER_BITS(BUFFER_BITS)) bridge (
    .aclk(aclk),
    .aresetn(resetn),
    .rx_data(rx_data),
    .rx_valid(rx_valid),
    .rx_ready(rx_ready),
    .tx_data(tx_data),
    .tx_valid(tx_valid),
    .tx_ready(tx_ready),
    .vector_tdata(vector_tdata),
    .vector_tvalid(vector_tvalid),
    .vector_tready(vector_tready),
    .vector_tlast(vector_tlast),
    .result_tdata(result_tdata),
    .result_tvalid(result_tvalid),
    .result_tready(result_tready),
    .result_tlast(result_tlast)
  );
  
  wire unused_tuser;
  model_axis core (
    .aclk(aclk),
    .aresetn(resetn),
    .s_axis_tdata(vector_tdata),
    .s_axis_tvalid(vector_tvalid),
    .s_axis_tready(vector_tready),
    .s_axis_tlast(vector_tlast),
    .s_axis_tuser(1'b0),
    .m_axis_tdata(result_tdata),
    .m_axis_tvalid(result_tvalid),
    .m_axis_tready(result_tready),
    .m_axis_tlast(result_tlast),
    .m_axis_tuser(unused_tuser)
  );
endmodule
`default_nettype wire
