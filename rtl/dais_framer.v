// Framer: takes the contents of frames, returns bytes of a link; the inverse of dais_deframer.
//
// Each frame begins and ends with a flag, so that noise before it does no harm. The CRC is added here.
`default_nettype none

module dais_framer (
  input  wire       clk,
  input  wire       resetn,
  input  wire [7:0] in_data,
  input  wire       in_last,
  input  wire       in_valid,
  output wire       in_ready,
  output wire [7:0] tx_data,
  output wire       tx_valid,
  input  wire       tx_ready
);
  localparam [7:0] FLAG = 8'h7E, ESCAPE = 8'h7D;
  localparam [1:0] OPEN = 2'd0, BODY = 2'd1, CHECK = 2'd2, CLOSE = 2'd3;

  (* fsm_encoding = "none" *) reg [1:0] state;  // fixed encoding: the proof of a bitstream relies on it
  reg [1:0]  index;
  reg        escaping;  // the escape of this byte has been sent, the byte itself is next
  reg [31:0] crc;

  wire [7:0]  plain = state == CHECK ? ~crc[7:0] : in_data;
  wire        special = plain == FLAG || plain == ESCAPE;
  wire        is_flag = state == OPEN || state == CLOSE;
  wire [31:0] crc_next;
  dais_crc32 check (.crc(crc), .data(in_data), .next(crc_next));

  assign tx_data = is_flag ? FLAG : escaping ? plain ^ 8'h20 : special ? ESCAPE : plain;
  assign tx_valid = in_valid || state == CHECK || state == CLOSE;
  wire step = tx_valid && tx_ready;
  wire whole = !special || escaping;
  assign in_ready = state == BODY && tx_ready && whole;

  always @(posedge clk) begin
    if (!resetn) begin
      state <= OPEN;
      escaping <= 1'b0;
    end else if (step) begin
      escaping <= !is_flag && !whole;
      case (state)
        OPEN: begin
          state <= BODY;
          crc <= 32'hFFFFFFFF;
          index <= 0;
        end
        BODY: if (whole) begin
          crc <= crc_next;
          if (in_last) state <= CHECK;
        end
        CHECK: if (whole) begin
          crc <= {8'hFF, crc[31:8]};
          index <= index + 1'b1;
          if (index == 2'd3) state <= CLOSE;
        end
        CLOSE: state <= OPEN;
      endcase
    end
  end
endmodule

`default_nettype wire
