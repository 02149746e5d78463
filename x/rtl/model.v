// Machine: 1 blocks of 3 ops, 1 registers.
// Of every signal element 0 takes the least significant bits. Types are written sW.F or uW.F: signed
// or unsigned, W bits, F of them fractional.
/* verilator lint_off INITIALDLY */  // initial values are not blocking, so that all that reads them sees them change
/* verilator lint_off UNDRIVEN */  // registers that nothing writes keep their initial value
/* verilator lint_off UNOPTFLAT */  // elements of one vector may depend on others of it
/* verilator lint_off UNUSEDSIGNAL */  // machines may hold elements that nothing reads
/* verilator lint_off WIDTHEXPAND */  // indices are narrower than the numbers that they are added to
module model (
  input  wire clk,
  input  wire [0:0] rst,  // u1.0
  input  wire [0:0] en,  // u1.0
  output wire [5:0] y  // u6.0
);
  reg  [5:0] count;  // u6.0
  wire [5:0] INTERNAL_inc_inp;  // u6.0
  wire [5:0] INTERNAL_inc_outp;  // u6.0
  initial count <= 6'h5;
  model_inc block_inc (.model_inp(INTERNAL_inc_inp), .model_out(INTERNAL_inc_outp));
  assign INTERNAL_inc_inp = count;
  assign y = count;
  always @(posedge clk)
    if (rst) count <= 6'h5;
    else begin
      if (en) count <= INTERNAL_inc_outp;
    end
endmodule
/* verilator lint_on INITIALDLY */
/* verilator lint_on UNDRIVEN */
/* verilator lint_on UNOPTFLAT */
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on WIDTHEXPAND */

// DAIS program 89260d83d9367a016c82af980721b594973c10abd27e99aed84919bfafe63c39
// 1 inputs, 1 outputs, 3 ops; combinational.
// op_N is the value of op N: an integer in units of 2^-f, in two's complement; an unsigned one has
// one more bit, always 0. Types are written sW.F or uW.F: signed or unsigned, W bits, F of them fractional.
// In comments %N is the value of op N.
/* verilator lint_off WIDTHEXPAND */  // signed operands are extended by the language, as the format means them
/* verilator lint_off WIDTHTRUNC */  // assignment to a narrower signal is the format's two's complement wrap
/* verilator lint_off UNUSEDSIGNAL */  // programs may hold inputs, ops and bits that nothing reads
module model_inc (
  input  wire [5:0] model_inp,
  output wire [5:0] model_out
);
  reg signed [6:0] op_0;
  reg signed [7:0] op_1;
  reg signed [6:0] op_2;
  always @(model_inp) begin
    op_0 = model_inp[5:0];  // u6.0 input: input 0
    op_1 = op_0 + 3'sd3;  // u7.0 add_const: %0 + 3
    op_2 = op_1 & 7'sh3f;  // u6.0 quant: quant(%1)
  end
  wire [5:0] out_0 = op_2[5:0];  // u6.0
  assign model_out = {out_0};
endmodule
/* verilator lint_on WIDTHEXPAND */
/* verilator lint_on WIDTHTRUNC */
/* verilator lint_on UNUSEDSIGNAL */
