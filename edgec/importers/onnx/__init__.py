"""ONNX files in.  With `exporters` and `floatrun` the only place that imports packages of ONNX."""

from edgec.importers.onnx.deferred import load_onnx_ir

load_onnx_ir()
