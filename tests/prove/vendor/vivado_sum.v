`timescale 1 ps / 1 ps

(* NotValidForBitStream *)
module model
   (x0,
    x1,
    y);
  input [3:0]x0;
  input [3:0]x1;
  output [4:0]y;

  wire \<const0> ;
  wire \<const1> ;
  wire [3:0]x0;
  wire [3:0]x0_IBUF;
  wire [3:0]x1;
  wire [3:0]x1_IBUF;
  wire [4:0]y;
  wire [4:0]y_OBUF;
  wire \y_OBUF[3]_inst_i_2_n_0 ;
  wire \y_OBUF[3]_inst_i_3_n_0 ;
  wire \y_OBUF[3]_inst_i_4_n_0 ;
  wire \y_OBUF[3]_inst_i_5_n_0 ;
  wire \y_OBUF[3]_inst_i_1_n_1 ;
  wire \y_OBUF[3]_inst_i_1_n_2 ;
  wire \y_OBUF[3]_inst_i_1_n_3 ;
  wire y_carry_n_0;
  wire [3:1]\NLW_y_OBUF[4]_inst_i_1_CO_UNCONNECTED ;
  wire [3:0]\NLW_y_OBUF[4]_inst_i_1_O_UNCONNECTED ;

  GND GND
       (.G(\<const0> ));
  VCC VCC
       (.P(\<const1> ));
  IBUF \x0_IBUF[0]_inst 
       (.I(x0[0]),
        .O(x0_IBUF[0]));
  IBUF \x0_IBUF[1]_inst 
       (.I(x0[1]),
        .O(x0_IBUF[1]));
  IBUF \x0_IBUF[2]_inst 
       (.I(x0[2]),
        .O(x0_IBUF[2]));
  IBUF \x0_IBUF[3]_inst 
       (.I(x0[3]),
        .O(x0_IBUF[3]));
  IBUF \x1_IBUF[0]_inst 
       (.I(x1[0]),
        .O(x1_IBUF[0]));
  IBUF \x1_IBUF[1]_inst 
       (.I(x1[1]),
        .O(x1_IBUF[1]));
  IBUF \x1_IBUF[2]_inst 
       (.I(x1[2]),
        .O(x1_IBUF[2]));
  IBUF \x1_IBUF[3]_inst 
       (.I(x1[3]),
        .O(x1_IBUF[3]));
  OBUF \y_OBUF[0]_inst 
       (.I(y_OBUF[0]),
        .O(y[0]));
  OBUF \y_OBUF[1]_inst 
       (.I(y_OBUF[1]),
        .O(y[1]));
  OBUF \y_OBUF[2]_inst 
       (.I(y_OBUF[2]),
        .O(y[2]));
  OBUF \y_OBUF[3]_inst 
       (.I(y_OBUF[3]),
        .O(y[3]));
  OBUF \y_OBUF[4]_inst 
       (.I(y_OBUF[4]),
        .O(y[4]));
  (* OPT_MODIFIED = "SWEEP" *) 
  CARRY4 \y_OBUF[3]_inst_i_1 
       (.CI(\<const0> ),
        .CO({y_carry_n_0,\y_OBUF[3]_inst_i_1_n_1 ,\y_OBUF[3]_inst_i_1_n_2 ,\y_OBUF[3]_inst_i_1_n_3 }),
        .CYINIT(\<const0> ),
        .DI(x0_IBUF),
        .O(y_OBUF[3:0]),
        .S({\y_OBUF[3]_inst_i_2_n_0 ,\y_OBUF[3]_inst_i_3_n_0 ,\y_OBUF[3]_inst_i_4_n_0 ,\y_OBUF[3]_inst_i_5_n_0 }));
  CARRY4 \y_OBUF[4]_inst_i_1 
       (.CI(y_carry_n_0),
        .CO({\NLW_y_OBUF[4]_inst_i_1_CO_UNCONNECTED [3:1],y_OBUF[4]}),
        .CYINIT(\<const0> ),
        .DI({\<const0> ,\<const0> ,\<const0> ,\<const0> }),
        .O(\NLW_y_OBUF[4]_inst_i_1_O_UNCONNECTED [3:0]),
        .S({\<const0> ,\<const0> ,\<const0> ,\<const1> }));
  LUT2 #(
    .INIT(4'h6)) 
    \y_OBUF[3]_inst_i_2 
       (.I0(x0_IBUF[3]),
        .I1(x1_IBUF[3]),
        .O(\y_OBUF[3]_inst_i_2_n_0 ));
  LUT2 #(
    .INIT(4'h6)) 
    \y_OBUF[3]_inst_i_3 
       (.I0(x0_IBUF[2]),
        .I1(x1_IBUF[2]),
        .O(\y_OBUF[3]_inst_i_3_n_0 ));
  LUT2 #(
    .INIT(4'h6)) 
    \y_OBUF[3]_inst_i_4 
       (.I0(x0_IBUF[1]),
        .I1(x1_IBUF[1]),
        .O(\y_OBUF[3]_inst_i_4_n_0 ));
  LUT2 #(
    .INIT(4'h6)) 
    \y_OBUF[3]_inst_i_5 
       (.I0(x0_IBUF[0]),
        .I1(x1_IBUF[0]),
        .O(\y_OBUF[3]_inst_i_5_n_0 ));
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
