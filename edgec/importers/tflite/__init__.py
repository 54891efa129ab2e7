"""TensorFlow Lite files in.  The only place that imports `tflite`, the schema of these files."""
