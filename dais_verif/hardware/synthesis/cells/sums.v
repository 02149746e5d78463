// A map for Yosys' techmap: each sum and each negation becomes an adder of its own.
// Yosys' pass alumacc, which would map them later, merges chains of them. It assumes that -x fits into as many bits as
// x, and therefore loses the wrap of the most negative x if a wider sum reads -x.
(* techmap_wrap = "alumacc" *)
(* techmap_celltype = "$add $sub $neg" *)
module each_sum_alone;
endmodule
