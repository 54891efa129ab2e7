"""Graphs out as standard ONNX: float models, quantized models with Q/DQ nodes, weight pools."""
