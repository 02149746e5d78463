// CRC-32 update by one byte (IEEE 802.3: reflected, polynomial 04C11DB7, starts from and is sent as the complement).
// Combinational. A register that has seen a message and then its CRC, least significant byte first, holds DEBB20E3.
`default_nettype none

module dais_crc32 (
  input  wire [31:0] crc,
  input  wire [7:0]  data,
  output wire [31:0] next
);
  function [31:0] advance;
    input [31:0] start;
    integer i;
    begin
      advance = start;
      for (i = 0; i < 8; i = i + 1) advance = (advance >> 1) ^ (advance[0] ? 32'hEDB88320 : 32'h0);
    end
  endfunction

  assign next = advance(crc ^ {24'b0, data});
endmodule

`default_nettype wire
