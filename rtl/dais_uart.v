// A UART, 8 data bits, no parity, one stop bit; a bit takes CLOCKS_PER_BIT clocks (at least 4).
//
// A byte is passed whenever valid and ready are both 1; received bytes cannot wait, so rx has no ready. A byte without
// its stop bit is not passed on: its frame fails the CRC check.
`default_nettype none

module dais_uart #(
  parameter CLOCKS_PER_BIT = 868  // 100 MHz at 115200 baud
) (
  input  wire       clk,
  input  wire       resetn,
  input  wire       uart_rx,
  output reg        uart_tx,
  output wire [7:0] rx_data,
  output reg        rx_valid,
  input  wire [7:0] tx_data,
  input  wire       tx_valid,
  output wire       tx_ready
);
  // Receiver: a bit is read in its middle. `rx_bits` counts the edges left: start bit, eight data bits, stop bit.
  reg [2:0]  line;  // synchronizer: the pin is asynchronous to clk
  reg [8:0]  rx_shift;
  reg [3:0]  rx_bits;
  reg [31:0] rx_wait;
  assign rx_data = rx_shift[7:0];

  always @(posedge clk) begin
    line <= {line[1:0], uart_rx};
    rx_valid <= 1'b0;
    if (!resetn) begin
      line <= 3'b111;
      rx_bits <= 0;
      rx_wait <= 0;
    end else if (rx_bits == 0) begin
      if (line[2:1] == 2'b10) begin  // falls: a start bit, whose middle is half a bit away
        rx_bits <= 4'd10;
        rx_wait <= CLOCKS_PER_BIT / 2 - 1;
      end
    end else if (rx_wait != 0) begin
      rx_wait <= rx_wait - 1;
    end else begin
      rx_wait <= CLOCKS_PER_BIT - 1;
      rx_bits <= rx_bits - 1'b1;
      rx_shift <= {line[1], rx_shift[8:1]};
      if (rx_bits == 4'd10 && line[1]) rx_bits <= 0;  // it was a spike
      if (rx_bits == 4'd1) begin
        rx_shift <= rx_shift >> 1;
        rx_valid <= line[1];
      end
    end
  end

  // Transmitter.
  reg [8:0]  tx_shift;  // remaining bits, stop bit on top
  reg [3:0]  tx_bits;
  reg [31:0] tx_wait;
  assign tx_ready = tx_bits == 0;

  always @(posedge clk) begin
    if (!resetn) begin
      uart_tx <= 1'b1;
      tx_bits <= 0;
      tx_wait <= 0;
    end else if (tx_bits == 0) begin
      if (tx_valid) begin
        uart_tx <= 1'b0;
        tx_shift <= {1'b1, tx_data};
        tx_bits <= 4'd10;
        tx_wait <= CLOCKS_PER_BIT - 1;
      end
    end else if (tx_wait != 0) begin
      tx_wait <= tx_wait - 1;
    end else begin
      uart_tx <= tx_shift[0];
      tx_shift <= {1'b1, tx_shift[8:1]};
      tx_bits <= tx_bits - 1'b1;
      tx_wait <= tx_bits == 4'd1 ? 0 : CLOCKS_PER_BIT - 1;
    end
  end
endmodule

`default_nettype wire
