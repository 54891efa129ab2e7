"""ONNX in and out: import, export, and float execution by onnxruntime.

The only package that imports onnx, onnx-ir, onnxscript and onnxruntime.
"""
