// A peripheral on SPI, mode 0, the first bit of a byte highest; a bit takes at least 8 clocks, and from the fall of
// spi_cs_n to the first edge of spi_sck at least 4.
//
// The bytes are those of a UART, but for one rule: a byte 00 means nothing, either way. Whoever has nothing to send
// sends that, and whoever has to send a byte 00 sends 7D 20 in its place, which RFC 1662 reads as 00. So the host may
// ask for bytes at any time, within a frame, too, and MISO of a board without power says nothing.
//
// A byte is passed whenever valid and ready are both 1; what comes in cannot wait, so rx has no ready. A byte that
// spi_cs_n breaks off is lost: the frame that it belonged to fails its check.
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

  // The pins belong to another clock.
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

  // Bits of this byte that have come.
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

  // A byte is taken when the one before is out; one of which no bit was sent yet waits while nobody listens.
  reg [7:0] tx_shift;
  reg       waits;    // tx_shift is a byte of which no bit was read
  reg       escaped;  // the escape of this byte is out, or waits
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
