// Models of the cells in netlists that Quartus writes for Intel FPGAs: the functions of their truth tables and
// registers. Other cells, such as memories, multipliers and PLLs, are missing. If a cell uses a feature that its model
// lacks, such as shared arithmetic, its outputs are X, which no proof and no simulation accepts.

// A truth table of four inputs, the third of which may be the carry; its lower half computes the next carry.
module dais_verif_lcell4 (input dataa, datab, datac, datad, cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  wire [15:0] mask = lut_mask;
  wire third = sum_lutc_input == "cin" ? cin : datac;
  assign combout = mask[{datad, third, datab, dataa}];
  assign cout = mask[{1'b0, cin, datab, dataa}];
endmodule

// Two truth tables of four inputs in front of an adder, or one truth table of six inputs.
module dais_verif_lcell6 (
  input dataa, datab, datac, datad, datae, dataf, cin,
  output combout, sumout, cout, shareout
);
  parameter lut_mask = 64'hffffffffffffffff;
  parameter shared_arith = "off";
  parameter extended_lut = "off";
  wire [63:0] mask = lut_mask;
  wire plain = shared_arith == "off" && extended_lut == "off";
  wire first = mask[{2'b00, datad, datac, datab, dataa}];
  wire second = ~mask[{2'b10, dataf, datac, datab, dataa}];
  assign combout = plain ? mask[{dataf, datae, datad, datac, datab, dataa}] : 1'bx;
  assign sumout = plain ? first ^ second ^ cin : 1'bx;
  assign cout = plain ? first & second | cin & (first | second) : 1'bx;
  assign shareout = 1'bx;
endmodule

// A clock buffer. Gating is not supported: a disabled clock is X.
module dais_verif_clock (input clk, ena, output outclk);
  assign outclk = ena ? clk : 1'bx;
endmodule

// A register: clrn is asynchronous; with ena, sclr has priority over sload, and sload over d. Asynchronous set and load
// are not supported. devclrn and devpor hold the device in reset while it is configured.
module dffeas (
  input d, clk, input tri1 clrn, prn, input tri0 aload, asdata, input tri1 ena, input tri0 sclr, sload,
  input tri1 devclrn, devpor, output q
);
  parameter power_up = "dont_care";
  parameter is_wysiwyg = "false";
  parameter x_on_violation = "on";
  parameter dont_touch = "off";
  parameter lpm_type = "dffeas";
  reg value;
  always @(posedge clk or negedge clrn)
    if (!clrn) value <= 1'b0;
    else if (ena) value <= sclr ? 1'b0 : sload ? asdata : d;
  assign q = prn & ~aload & devclrn & devpor ? value : 1'bx;
endmodule

module cycloneiii_lcell_comb (input tri1 dataa, datab, datac, datad, input tri0 cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  parameter dont_touch = "off";
  parameter lpm_type = "cycloneiii_lcell_comb";
  dais_verif_lcell4 #(lut_mask, sum_lutc_input) cell4 (dataa, datab, datac, datad, cin, combout, cout);
endmodule
module cycloneiii_io_ibuf (input i, input tri1 ibar, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "Z";
  parameter lpm_type = "cycloneiii_io_ibuf";
  assign o = i;
endmodule
module cycloneiii_io_obuf (input i, input tri1 oe, input tri0 [15:0] seriesterminationcontrol, input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter lpm_type = "cycloneiii_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module cycloneiii_clkctrl (input tri1 ena, input [3:0] inclk, input [1:0] clkselect, input tri1 devclrn, devpor, output outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter lpm_type = "cycloneiii_clkctrl";
  dais_verif_clock gate (inclk[clkselect], ena, outclk);
endmodule

module cycloneiv_lcell_comb (input tri1 dataa, datab, datac, datad, input tri0 cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  parameter dont_touch = "off";
  parameter lpm_type = "cycloneiv_lcell_comb";
  dais_verif_lcell4 #(lut_mask, sum_lutc_input) cell4 (dataa, datab, datac, datad, cin, combout, cout);
endmodule
module cycloneiv_io_ibuf (input i, input tri1 ibar, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "Z";
  parameter lpm_type = "cycloneiv_io_ibuf";
  assign o = i;
endmodule
module cycloneiv_io_obuf (input i, input tri1 oe, input tri0 [15:0] seriesterminationcontrol, input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter lpm_type = "cycloneiv_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module cycloneiv_clkctrl (input tri1 ena, input [3:0] inclk, input [1:0] clkselect, input tri1 devclrn, devpor, output outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter lpm_type = "cycloneiv_clkctrl";
  dais_verif_clock gate (inclk[clkselect], ena, outclk);
endmodule

module cycloneive_lcell_comb (input tri1 dataa, datab, datac, datad, input tri0 cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  parameter dont_touch = "off";
  parameter lpm_type = "cycloneive_lcell_comb";
  dais_verif_lcell4 #(lut_mask, sum_lutc_input) cell4 (dataa, datab, datac, datad, cin, combout, cout);
endmodule
module cycloneive_io_ibuf (input i, input tri1 ibar, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "Z";
  parameter lpm_type = "cycloneive_io_ibuf";
  assign o = i;
endmodule
module cycloneive_io_obuf (input i, input tri1 oe, input tri0 [15:0] seriesterminationcontrol, input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter lpm_type = "cycloneive_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module cycloneive_clkctrl (input tri1 ena, input [3:0] inclk, input [1:0] clkselect, input tri1 devclrn, devpor, output outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter lpm_type = "cycloneive_clkctrl";
  dais_verif_clock gate (inclk[clkselect], ena, outclk);
endmodule

module cyclone10lp_lcell_comb (input tri1 dataa, datab, datac, datad, input tri0 cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  parameter dont_touch = "off";
  parameter lpm_type = "cyclone10lp_lcell_comb";
  dais_verif_lcell4 #(lut_mask, sum_lutc_input) cell4 (dataa, datab, datac, datad, cin, combout, cout);
endmodule
module cyclone10lp_io_ibuf (input i, input tri1 ibar, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "Z";
  parameter lpm_type = "cyclone10lp_io_ibuf";
  assign o = i;
endmodule
module cyclone10lp_io_obuf (input i, input tri1 oe, input tri0 [15:0] seriesterminationcontrol, input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter lpm_type = "cyclone10lp_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module cyclone10lp_clkctrl (input tri1 ena, input [3:0] inclk, input [1:0] clkselect, input tri1 devclrn, devpor, output outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter lpm_type = "cyclone10lp_clkctrl";
  dais_verif_clock gate (inclk[clkselect], ena, outclk);
endmodule

module fiftyfivenm_lcell_comb (input tri1 dataa, datab, datac, datad, input tri0 cin, output combout, cout);
  parameter lut_mask = 16'hffff;
  parameter sum_lutc_input = "datac";
  parameter dont_touch = "off";
  parameter lpm_type = "fiftyfivenm_lcell_comb";
  dais_verif_lcell4 #(lut_mask, sum_lutc_input) cell4 (dataa, datab, datac, datad, cin, combout, cout);
endmodule
module fiftyfivenm_io_ibuf (input i, input tri1 ibar, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "Z";
  parameter lpm_type = "fiftyfivenm_io_ibuf";
  assign o = i;
endmodule
module fiftyfivenm_io_obuf (input i, input tri1 oe, input tri0 [15:0] seriesterminationcontrol, input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter lpm_type = "fiftyfivenm_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module fiftyfivenm_clkctrl (input tri1 ena, input [3:0] inclk, input [1:0] clkselect, input tri1 devclrn, devpor, output outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter lpm_type = "fiftyfivenm_clkctrl";
  dais_verif_clock gate (inclk[clkselect], ena, outclk);
endmodule

module cyclonev_lcell_comb (
  input tri1 dataa, datab, datac, datad, datae, dataf, datag, input tri0 cin, sharein,
  output combout, sumout, cout, shareout
);
  parameter lut_mask = 64'hffffffffffffffff;
  parameter shared_arith = "off";
  parameter extended_lut = "off";
  parameter dont_touch = "off";
  parameter lpm_type = "cyclonev_lcell_comb";
  dais_verif_lcell6 #(lut_mask, shared_arith, extended_lut) cell6 (
    dataa, datab, datac, datad, datae, dataf, cin, combout, sumout, cout, shareout);
endmodule
module cyclonev_io_ibuf (input i, input tri1 ibar, input tri0 dynamicterminationcontrol, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "z";
  parameter lpm_type = "cyclonev_io_ibuf";
  assign o = i;
endmodule
module cyclonev_io_obuf (input i, input tri1 oe, input tri0 dynamicterminationcontrol, input tri0 [15:0] seriesterminationcontrol, parallelterminationcontrol,
  input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter shift_series_termination_control = "false";
  parameter lpm_type = "cyclonev_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module cyclonev_clkena (input inclk, input tri1 ena, output enaout, outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter disable_mode = "low";
  parameter ena_register_power_up = "high";
  parameter test_syn = "high";
  parameter lpm_type = "cyclonev_clkena";
  assign enaout = ena;
  dais_verif_clock gate (inclk, ena, outclk);
endmodule

module arriav_lcell_comb (
  input tri1 dataa, datab, datac, datad, datae, dataf, datag, input tri0 cin, sharein,
  output combout, sumout, cout, shareout
);
  parameter lut_mask = 64'hffffffffffffffff;
  parameter shared_arith = "off";
  parameter extended_lut = "off";
  parameter dont_touch = "off";
  parameter lpm_type = "arriav_lcell_comb";
  dais_verif_lcell6 #(lut_mask, shared_arith, extended_lut) cell6 (
    dataa, datab, datac, datad, datae, dataf, cin, combout, sumout, cout, shareout);
endmodule
module arriav_io_ibuf (input i, input tri1 ibar, input tri0 dynamicterminationcontrol, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "z";
  parameter lpm_type = "arriav_io_ibuf";
  assign o = i;
endmodule
module arriav_io_obuf (input i, input tri1 oe, input tri0 dynamicterminationcontrol, input tri0 [15:0] seriesterminationcontrol, parallelterminationcontrol,
  input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter shift_series_termination_control = "false";
  parameter lpm_type = "arriav_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module arriav_clkena (input inclk, input tri1 ena, output enaout, outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter disable_mode = "low";
  parameter ena_register_power_up = "high";
  parameter test_syn = "high";
  parameter lpm_type = "arriav_clkena";
  assign enaout = ena;
  dais_verif_clock gate (inclk, ena, outclk);
endmodule

module stratixv_lcell_comb (
  input tri1 dataa, datab, datac, datad, datae, dataf, datag, input tri0 cin, sharein,
  output combout, sumout, cout, shareout
);
  parameter lut_mask = 64'hffffffffffffffff;
  parameter shared_arith = "off";
  parameter extended_lut = "off";
  parameter dont_touch = "off";
  parameter lpm_type = "stratixv_lcell_comb";
  dais_verif_lcell6 #(lut_mask, shared_arith, extended_lut) cell6 (
    dataa, datab, datac, datad, datae, dataf, cin, combout, sumout, cout, shareout);
endmodule
module stratixv_io_ibuf (input i, input tri1 ibar, input tri0 dynamicterminationcontrol, output o);
  parameter differential_mode = "false";
  parameter bus_hold = "false";
  parameter simulate_z_as = "z";
  parameter lpm_type = "stratixv_io_ibuf";
  assign o = i;
endmodule
module stratixv_io_obuf (input i, input tri1 oe, input tri0 dynamicterminationcontrol, input tri0 [15:0] seriesterminationcontrol, parallelterminationcontrol,
  input tri1 devoe, output o, obar);
  parameter differential_mode = "false";
  parameter open_drain_output = "false";
  parameter bus_hold = "false";
  parameter shift_series_termination_control = "false";
  parameter lpm_type = "stratixv_io_obuf";
  assign o = oe ? i : 1'bx;
  assign obar = oe ? ~i : 1'bx;
endmodule
module stratixv_clkena (input inclk, input tri1 ena, output enaout, outclk);
  parameter clock_type = "auto";
  parameter ena_register_mode = "none";
  parameter disable_mode = "low";
  parameter ena_register_power_up = "high";
  parameter test_syn = "high";
  parameter lpm_type = "stratixv_clkena";
  assign enaout = ena;
  dais_verif_clock gate (inclk, ena, outclk);
endmodule
