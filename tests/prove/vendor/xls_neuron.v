module neuron(
  input wire [11:0] x,
  output wire [7:0] out
);
  // lint_off SIGNED_TYPE
  // lint_off MULTIPLY
  function automatic [9:0] smul10b_6b_x_4b (input reg [5:0] lhs, input reg [3:0] rhs);
    reg signed [5:0] signed_lhs;
    reg signed [3:0] signed_rhs;
    reg signed [9:0] signed_result;
    begin
      signed_lhs = $signed(lhs);
      signed_rhs = $signed(rhs);
      signed_result = signed_lhs * signed_rhs;
      smul10b_6b_x_4b = $unsigned(signed_result);
    end
  endfunction
  // lint_on MULTIPLY
  // lint_on SIGNED_TYPE
  wire [5:0] x_unflattened[0:1];
  assign x_unflattened[0] = x[5:0];
  assign x_unflattened[1] = x[11:6];
  wire literal_12;
  wire [5:0] array_index_13;
  wire [9:0] smul_14;
  wire [9:0] smul_15;
  wire [10:0] add_16;
  wire [10:0] literal_17;
  wire sgt_18;
  wire [7:0] bit_slice_19;
  wire [7:0] result[0:0];
  assign literal_12 = 1'h1;
  assign array_index_13 = x_unflattened[literal_12];
  assign smul_14 = smul10b_6b_x_4b(x_unflattened[1'h0], 4'h3);
  assign smul_15 = smul10b_6b_x_4b(array_index_13, 4'hb);
  assign add_16 = {{1{smul_14[9]}}, smul_14} + {{1{smul_15[9]}}, smul_15};
  assign literal_17 = 11'h000;
  assign sgt_18 = $signed(add_16) > $signed(literal_17);
  assign bit_slice_19 = add_16[9:2];
  assign result[0] = bit_slice_19 & {8{sgt_18}};
  assign out = {result[0]};
endmodule
