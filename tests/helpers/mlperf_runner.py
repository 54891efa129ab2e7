"""A device under test as MLPerf Tiny's runner sees it, and networks of the benchmarks' sizes.

The steps, texts, patterns and time-outs are those of mlcommons/tiny, benchmark/runner
(device_under_test.py, serial_device.py, script.py); the code is our own.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import numpy as np
import onnx
import serial
from onnx import TensorProto, helper, numpy_helper

LINE_TIMEOUT_S = 5.0
BYTES_OF_A_COMMAND = 31


@dataclass(frozen=True)
class Inference:
    """What the runner reads out of the answer to `infer`."""

    results: list[float]
    elapsed_us: int


class DeviceUnderTest:
    """The runner's half of the line."""

    def __init__(self, port: str, baud: int = 115_200) -> None:
        self._port = serial.serial_for_url(port, baud, timeout=0.1)
        self._received = b""

    def __enter__(self) -> DeviceUnderTest:
        """Meet a device that has started long ago."""
        self._port.write(b"%")
        while self._line() is not None:
            pass
        # On a busy computer an emulator may begin after that silence: what it says before the
        # answer to this command is of its start.
        self._port.write(b"name%")
        named = False
        while (line := self._line(LINE_TIMEOUT_S)) is not None:
            named = named or line.startswith("m-name-dut-")
            if named and "m-ready" in line:
                break
        return self

    def __exit__(self, *_: object) -> None:
        """Close the line."""
        self._port.close()

    def _line(self, timeout_s: float = 0.5) -> str | None:
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._received:
            if time.monotonic() > deadline:
                return None
            self._received += self._port.read(max(self._port.in_waiting, 1))
        line, self._received = self._received.split(b"\n", 1)
        return line.decode().replace("\r", "").replace("\0", "")

    def send(self, command: str) -> list[str]:
        """All lines of the answer, the closing one too."""
        self._port.write(f"{command}%".encode())
        lines: list[str] = []
        while not lines or "m-ready" not in lines[-1]:
            line = self._line(LINE_TIMEOUT_S)
            assert line is not None, f"No response to command {command}"
            lines.append(line)
        return lines

    def field(self, command: str, pattern: str) -> str:
        """What a pattern finds in the answer to a command."""
        found = [re.match(pattern, line) for line in self.send(command)]
        return next(match[1] for match in found if match)

    def name(self) -> str:
        """The device's name."""
        return self.field("name", r"^m-name-dut-\[([^]]+)]$")

    def profile(self) -> str:
        """The firmware's name."""
        return self.field("profile", r"^m-profile-\[([^]]+)]$")

    def model(self) -> str:
        """The network's name."""
        return self.field("profile", r"^m-model-\[([^]]+)]$")

    def load(self, data: bytes) -> list[str]:
        """Send an input; the answer to its last command."""
        self.send(f"db load {len(data)}")
        lines: list[str] = []
        for start in range(0, len(data), BYTES_OF_A_COMMAND):
            lines = self.send(f"db {data[start : start + BYTES_OF_A_COMMAND].hex()}")
        return lines

    def infer(self, number: int, warmups: int) -> Inference:
        """Run the network; the results, and the time between the two stamps."""
        lines = self.send(f"infer {number} {warmups}")
        stamps = [int(m[1]) for line in lines if (m := re.match(r"^m-lap-us-([0-9]+)$", line))]
        results = [m[1] for line in lines if (m := re.match(r"^m-results-\[([^]]+)\]$", line))]
        numbers = [float(text) for text in results[0].split(",")]
        return Inference(numbers, stamps[1] - stamps[0] if len(stamps) == 2 else -1)


def dense_network(inputs: tuple[int, ...], outputs: int, hidden: int = 8) -> onnx.ModelProto:
    """Flatten, two dense layers; softmax where the output is not as long as the input."""
    random = np.random.default_rng(5)
    elements = int(np.prod(inputs))
    weights = {
        "w1": random.normal(0, elements**-0.5, (elements, hidden)).astype(np.float32),
        "w2": random.normal(0, hidden**-0.5, (hidden, outputs)).astype(np.float32),
    }
    scores = outputs != elements
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("MatMul", ["r", "w2"], ["s" if scores else "y"]),
    ]
    nodes += [helper.make_node("Softmax", ["s"], ["y"])] if scores else []
    return _model(nodes, (1, *inputs), outputs, weights)


def image_network(size: int, classes: int) -> onnx.ModelProto:
    """A convolution, a global average and a softmax on pixels, channels first."""
    random = np.random.default_rng(6)
    weights = {"w": random.normal(0, 0.3, (classes, 3, 3, 3)).astype(np.float32)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], strides=[4, 4], pads=[0, 0, 1, 1]),
        helper.make_node("GlobalAveragePool", ["c"], ["p"]),
        helper.make_node("Flatten", ["p"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"]),
    ]
    return _model(nodes, (1, 3, size, size), classes, weights)


def _model(
    nodes: list[onnx.NodeProto],
    shape: tuple[int, ...],
    outputs: int,
    weights: dict[str, np.ndarray],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, outputs])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
