rtl/dais_crc32.v
rtl/dais_deframer.v
rtl/dais_framer.v
rtl/dais_bridge.v
rtl/dais_uart.v
rtl/model.v
rtl/model_axis.v
rtl/model_uart.v
