"""RTL as text and as ports: what is emitted, what users bring, synthesis and bitstreams."""
