`timescale 1 ps / 1 ps

(* NotValidForBitStream *)
module model
   (clk,
    rst,
    a,
    b,
    p);
  input clk;
  input rst;
  input [2:0]a;
  input [2:0]b;
  output [3:0]p;

  wire [2:0]a;
  wire [2:0]b;
  wire clk;
  wire clk_IBUF;
  wire clk_IBUF_BUFG;
  wire rst;
  wire [3:0]p;
  wire [3:0]p0;
  wire p0_i_1_n_0, p0_i_2_n_0;
  BUFG clk_IBUF_BUFG_inst 
       (.I(clk_IBUF),
        .O(clk_IBUF_BUFG));
  IBUF clk_IBUF_inst 
       (.I(clk),
        .O(clk_IBUF));
  LUT6 #(
    .INIT(64'h1E665AAAB4CCF000)) 
    \p[0]_i_1 
       (.I0(a[0]),
        .I1(a[1]),
        .I2(a[2]),
        .I3(b[0]),
        .I4(b[1]),
        .I5(b[2]),
        .O(p0[0]));
  LUT6 #(
    .INIT(64'h0E1E3666C8F0F000)) 
    \p[1]_i_1 
       (.I0(a[0]),
        .I1(a[1]),
        .I2(a[2]),
        .I3(b[0]),
        .I4(b[1]),
        .I5(b[2]),
        .O(p0[1]));
  LUT6 #(
    .INIT(64'h0E0E0E1EF0F0F000)) 
    \p[2]_i_1 
       (.I0(a[0]),
        .I1(a[1]),
        .I2(a[2]),
        .I3(b[0]),
        .I4(b[1]),
        .I5(b[2]),
        .O(p0[2]));
  LUT5 #(
    .INIT(32'hF0F0F000)) 
    p0_i_1 
       (.I0(a[0]),
        .I1(a[1]),
        .I2(a[2]),
        .I3(b[0]),
        .I4(b[1]),
        .O(p0_i_1_n_0));
  LUT5 #(
    .INIT(32'h0E0E0E0E)) 
    p0_i_2 
       (.I0(a[0]),
        .I1(a[1]),
        .I2(a[2]),
        .I3(b[0]),
        .I4(b[1]),
        .O(p0_i_2_n_0));
  MUXF7 p0_i_3 
       (.I0(p0_i_1_n_0),
        .I1(p0_i_2_n_0),
        .O(p0[3]),
        .S(b[2]));
  FDRE #(
    .INIT(1'b0)) 
    \p_reg[0] 
       (.C(clk_IBUF_BUFG),
        .CE(1'b1),
        .D(p0[0]),
        .Q(p[0]),
        .R(rst));
  FDRE #(
    .INIT(1'b0)) 
    \p_reg[1] 
       (.C(clk_IBUF_BUFG),
        .CE(1'b1),
        .D(p0[1]),
        .Q(p[1]),
        .R(rst));
  FDRE #(
    .INIT(1'b0)) 
    \p_reg[2] 
       (.C(clk_IBUF_BUFG),
        .CE(1'b1),
        .D(p0[2]),
        .Q(p[2]),
        .R(rst));
  FDRE #(
    .INIT(1'b0)) 
    \p_reg[3] 
       (.C(clk_IBUF_BUFG),
        .CE(1'b1),
        .D(p0[3]),
        .Q(p[3]),
        .R(rst));
endmodule
`ifndef GLBL
`define GLBL
`timescale  1 ps / 1 ps

module glbl ();

    parameter ROC_WIDTH = 100000;
    parameter TOC_WIDTH = 0;

    wire GSR;
    wire GTS;
    reg GSR_int;
    reg GTS_int;

    assign (strong1, weak0) GSR = GSR_int;
    assign (strong1, weak0) GTS = GTS_int;

    initial begin
	GSR_int = 1'b1;
	#(ROC_WIDTH)
	GSR_int = 1'b0;
    end

    initial begin
	GTS_int = 1'b1;
	#(TOC_WIDTH)
	GTS_int = 1'b0;
    end

endmodule
`endif
