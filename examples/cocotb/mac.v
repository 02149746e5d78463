// What examples/quantised_mac.bin computes, as a person would write it: y = relu(a + 3*b - c/2 - 1.25). a, b and c
// carry quarters, y carries halves. Latency 2, a vector at every edge at which en is 1.
module mac (
  input  wire              clk,
  input  wire              rst_n,
  input  wire              en,
  input  wire              in_valid,
  input  wire signed [5:0] a,
  input  wire signed [5:0] b,
  input  wire signed [5:0] c,
  output reg               out_valid,
  output reg         [5:0] y
);
  reg               valid;
  reg signed [7:0]  op_4;
  reg signed [5:0]  c_1;
  wire signed [9:0] op_5 = (op_4 <<< 1) - c_1;
  wire signed [9:0] op_6 = op_5 - 10'sd10;
  wire signed [7:0] op_3 = b + (b <<< 1);

  always @(posedge clk) begin
    if (!rst_n) begin
      valid <= 1'b0;
      out_valid <= 1'b0;
    end else if (en) begin
      valid <= in_valid;
      out_valid <= valid;
      op_4 <= a + op_3;
      c_1 <= c;
      y <= op_6 < 0 ? 6'd0 : op_6[7:2];
    end
  end
endmodule
