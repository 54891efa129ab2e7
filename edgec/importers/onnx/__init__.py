"""ONNX files in.  With `exporters` and `floatrun` the only place that imports packages of ONNX."""
