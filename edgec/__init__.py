"""edgec: from a trained ONNX network to tested, flashable firmware on an Arm microcontroller."""

__version__ = "0.1.0"
