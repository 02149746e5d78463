# SDC: model_uart on its own, to see whether it is fast enough. Within a larger design the clock is
# already constrained there, and this file is not needed.
create_clock -name aclk -period 5 [get_ports aclk]

# Ports that are pins of the chip want delays of their own, for instance:
# set_input_delay  -clock aclk 1.0 [all_inputs -no_clocks]
# set_output_delay -clock aclk 1.0 [all_outputs]
