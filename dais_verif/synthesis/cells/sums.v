// A map for Yosys' techmap: each sum and each negation becomes an adder of its own.
// Yosys' pass alumacc, which would come to them later, merges chains of them. It takes -x for a number that fits in
// as many bits as x, and so loses the wrap of the most negative x when another sum, of more bits, reads -x.
(* techmap_wrap = "alumacc" *)
(* techmap_celltype = "$add $sub $neg" *)
module each_sum_alone;
endmodule
