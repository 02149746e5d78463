"""Use cases of networks: ONNX files in the place of programs."""
