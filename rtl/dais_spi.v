// SPI peripheral, mode 0, most significant bit first; a bit takes at least 8 clocks, and from the falling edge of
// spi_cs_n to the first edge of spi_sck at least 4.
//
// The bytes are those of a UART, with one exception: a byte 00 is idle, in both directions. A side with nothing to send
// sends 00, and a data byte 00 is sent as 7D 20, which RFC 1662 decodes as 00. So the host may
// clock bytes at any time, even within a frame, and MISO of a board without power reads as idle.
//
// A byte is passed whenever valid and ready are both 1; received bytes cannot wait, so rx has no ready. A byte that
// spi_cs_n cuts short is lost: its frame fails the CRC check.
`default_nettype none

module dais_spi (
  input  wire       clk,
  input  wire       resetn,
  input  wire       spi_sck,
  input  wire       spi_cs_n,
  input  wire       spi_mosi,
  output wire       spi_miso,
  output wire [7:0] rx_data,
  output reg        rx_valid,
  input  wire [7:0] tx_data,
  input  wire       tx_valid,
  output wire       tx_ready
);
  localparam [7:0] NOTHING = 8'h00, ESCAPE = 8'h7D, ESCAPED = 8'h20;

  // The pins are asynchronous to clk.
  reg [2:0] sck, deselected;
  reg [1:0] mosi;
  always @(posedge clk) begin
    sck <= {sck[1:0], spi_sck};
    mosi <= {mosi[0], spi_mosi};
    deselected <= {deselected[1:0], spi_cs_n};
    if (!resetn) deselected <= 3'b111;
  end
  wire selected = !deselected[1];
  wire begins = selected && deselected[2];
  wire rises = selected && sck[2:1] == 2'b01;
  wire falls = selected && sck[2:1] == 2'b10;

  // Received bits of this byte.
  reg [2:0] count;

  reg [7:0] rx_shift;
  wire [7:0] rx_next = {rx_shift[6:0], mosi[1]};
  assign rx_data = rx_shift;

  always @(posedge clk) begin
    rx_valid <= 1'b0;
    if (!resetn || !selected) begin
      count <= 0;
    end else if (rises) begin
      count <= count + 1'b1;
      rx_shift <= rx_next;
      rx_valid <= count == 3'd7 && rx_next != NOTHING;
    end
  end

  // A byte is taken when the previous one has been sent; one of which no bit was sent yet waits until the host clocks.
  reg [7:0] tx_shift;
  reg       waits;    // tx_shift is a byte of which no bit was read
  reg       escaped;  // the escape of this byte has been sent, or waits
  wire take = (begins && !waits) || (falls && count == 0 && !waits);
  wire zero = tx_data == NOTHING;
  assign tx_ready = take && tx_valid && (!zero || escaped);
  assign spi_miso = tx_shift[7];

  always @(posedge clk) begin
    if (!resetn) begin
      tx_shift <= NOTHING;
      waits <= 1'b0;
      escaped <= 1'b0;
    end else if (take) begin
      tx_shift <= !tx_valid ? NOTHING : !zero ? tx_data : escaped ? ESCAPED : ESCAPE;
      waits <= tx_valid;
      escaped <= tx_valid && zero && !escaped;
    end else if (rises) begin
      waits <= 1'b0;
    end else if (falls && !waits) begin
      tx_shift <= {tx_shift[6:0], 1'b0};
    end
  end
endmodule

`default_nettype wire
