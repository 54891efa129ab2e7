"""The end of a reply that a serial line damaged: it is asked for again, not waited for."""

import zlib

import pytest

from edgec.sim.link import Link


class Firmware:
    """Answers requests; one character of the end of its first reply is another one.

    Attributes:
        asked: requests other than `ping`.
    """

    def __init__(self, place: int) -> None:
        self.asked: list[str] = []
        self._place = place
        self._out = b""

    def write(self, data: bytes) -> None:
        text = data.decode().strip().split(" ", 1)[1]
        line = text.replace(" ", "=") if text.startswith("ping") else "cycles=5"
        end = f"ok {zlib.crc32((line + chr(10)).encode()):08x}"
        if not text.startswith("ping"):
            self.asked.append(text)
            if len(self.asked) == 1:
                end = end[: self._place] + "#" + end[self._place + 1 :]
        self._out += f"{line}\n{end}\n".encode()

    def read(self, _timeout_s: float) -> bytes:
        found, self._out = self._out, b""
        return found


@pytest.mark.parametrize("place", range(11))
def test_a_long_run_whose_end_is_damaged_is_asked_again(place: int) -> None:
    firmware = Firmware(place)
    assert Link(firmware).request("run", timeout_s=300.0) == ("cycles=5",)
    assert firmware.asked == ["run", "run"]
