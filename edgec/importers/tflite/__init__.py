"""TensorFlow Lite files in.  The only place that imports `tflite`, the schema of these files."""


def is_tflite(head: bytes) -> bool:
    """True for the first bytes of a TensorFlow Lite file."""
    return head[4:8] == b"TFL3"
