# Adds model_uart to the Vivado project that is open: source vivado.tcl
# To synthesise it alone instead, without a project:
#   source vivado.tcl; read_xdc $constraints
#   synth_design -top model_uart -part <part> -mode out_of_context
set here [file dirname [file normalize [info script]]]
set sources [list \
  [file join $here {rtl/dais_crc32.v}] \
  [file join $here {rtl/dais_deframer.v}] \
  [file join $here {rtl/dais_framer.v}] \
  [file join $here {rtl/dais_bridge.v}] \
  [file join $here {rtl/dais_uart.v}] \
  [file join $here {rtl/model.v}] \
  [file join $here {rtl/model_axis.v}] \
  [file join $here {rtl/model_uart.v}]]
set constraints [file join $here {constraints/model_uart.xdc}]
if {[llength [get_projects -quiet]] > 0} {
  add_files -fileset sources_1 -norecurse $sources
  add_files -fileset constrs_1 -norecurse $constraints
  set_property USED_IN {out_of_context} [get_files $constraints]
  update_compile_order -fileset sources_1
} else {
  read_verilog $sources
}
