// Skid buffer: a register slice for a valid/ready stream, both directions registered, one beat per clock.
//
// s_ready is a register, so there is no path from m_ready to it: when the receiver stops, the beat that
// is already on its way is stored in `spare`. m_valid and m_data are registers as well.
`default_nettype none

module dais_skid #(
  parameter WIDTH = 8
) (
  input  wire             clk,
  input  wire             resetn,  // synchronous, active low; drops stored beats
  input  wire [WIDTH-1:0] s_data,
  input  wire             s_valid,
  output reg              s_ready,  // low during reset and one clock after it
  output reg  [WIDTH-1:0] m_data,
  output reg              m_valid,
  input  wire             m_ready
);
  reg [WIDTH-1:0] spare;
  reg             full;  // `spare` holds a beat; s_ready is then low

  wire accept = s_valid && s_ready;
  wire move   = !m_valid || m_ready;  // the output register is free for another beat

  always @(posedge clk) begin
    if (!resetn) begin
      s_ready <= 1'b0;
      m_valid <= 1'b0;
      full    <= 1'b0;
    end else if (move) begin
      s_ready <= 1'b1;
      m_valid <= full || accept;
      full    <= 1'b0;
    end else begin
      s_ready <= !(full || accept);
      full    <= full || accept;
    end
  end

  always @(posedge clk) begin
    if (s_ready) spare <= s_data;
    if (move) m_data <= full ? spare : s_data;
  end
endmodule

`default_nettype wire
