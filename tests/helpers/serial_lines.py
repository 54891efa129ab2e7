"""Real serial lines without a board: UARTs of QEMU and rp2040js, disturbed on demand."""

from __future__ import annotations

import contextlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest


@dataclass(frozen=True)
class Machine:
    """A machine of QEMU that boots the unmodified firmware of a board.

    Attributes:
        name: QEMU's name.
        uart: which of its serial lines is the board's console; 1 is USART2 of an STM32.
    """

    name: str
    uart: int


MACHINES = {
    "nucleo_f446re": Machine("netduinoplus2", 1),
    "nucleo_f207zg": Machine("netduino2", 2),
    "nucleo_f103rb": Machine("stm32vldiscovery", 1),
    "mps2_an386": Machine("mps2-an386", 0),
}
Damage = Callable[[bytes], bytes | None]
"""What a line makes of bytes; None: it is cut."""


def _command(elf: Path, board: str, serial: str) -> list[str]:
    return [*_machine(board, serial), "-kernel", str(elf)]


def _machine(board: str, serial: str) -> list[str]:
    program = shutil.which("qemu-system-arm")
    if program is None:
        pytest.skip("qemu-system-arm is not installed")
    machine = MACHINES[board]
    others = ["-serial", "null"] * machine.uart
    quiet = ["-display", "none", "-monitor", "none"]
    return [program, "-M", machine.name, *quiet, *others, "-serial", serial]


@contextlib.contextmanager
def _running(command: list[str], **options: object) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, text=True, **options) as child:  # type: ignore[call-overload]
        try:
            yield child
        finally:
            child.kill()


@contextlib.contextmanager
def waiting_qemu(board: str = "nucleo_f446re") -> Iterator[tuple[str, str]]:
    """A machine without a program: the URLs of its GDB server and of its serial line."""
    with socket.socket() as debugger, socket.socket() as line:
        for listener in (debugger, line):
            listener.bind(("127.0.0.1", 0))
            listener.listen()
        command = _machine(board, "chardev:line")
        for name, listener in (("gdb", debugger), ("line", line)):
            command += ["-chardev", f"socket,id={name},fd={listener.fileno()},server=on,wait=off"]
        command += ["-S", "-gdb", "chardev:gdb"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        ports = [listener.getsockname()[1] for listener in (debugger, line)]
        with _running(command, pass_fds=(debugger.fileno(), line.fileno()), **quiet):
            yield f"gdb://127.0.0.1:{ports[0]}", f"socket://127.0.0.1:{ports[1]}"


@contextlib.contextmanager
def qemu_terminal(elf: Path, board: str = "nucleo_f446re") -> Iterator[str]:
    """The name of a terminal behind which the firmware runs."""
    command = _command(elf, board, "pty")
    with _running(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        assert child.stdout is not None
        for line in child.stdout:
            found = re.search(r"redirected to (\S+)", line)
            if found:
                yield found[1]
                return
        raise AssertionError("QEMU names no terminal")


@dataclass(frozen=True)
class RunningMachine:
    """A QEMU whose firmware waits for bytes, which keeps a processor busy."""

    child: subprocess.Popen[str]
    url: str

    @contextlib.contextmanager
    def awake(self) -> Iterator[str]:
        """The URL of its serial line; it stands still afterwards."""
        self.child.send_signal(signal.SIGCONT)
        try:
            yield self.url
        finally:
            self.child.send_signal(signal.SIGSTOP)


@contextlib.contextmanager
def qemu_socket(elf: Path, board: str = "nucleo_f446re") -> Iterator[str]:
    """The URL of a TCP port behind which the firmware runs."""
    with machine_on_socket(elf, board) as machine:
        yield machine.url


@contextlib.contextmanager
def machine_on_socket(elf: Path, board: str = "nucleo_f446re") -> Iterator[RunningMachine]:
    """A machine whose serial line is a TCP port."""
    with socket.socket() as listener:  # QEMU takes the listening socket, so no port is lost
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        device = ["-chardev", f"socket,id=line,fd={listener.fileno()},server=on,wait=off"]
        command = [*_command(elf, board, "chardev:line"), *device]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with _running(command, pass_fds=(listener.fileno(),), **quiet) as child:
            yield RunningMachine(child, f"socket://127.0.0.1:{number}")


RP2040JS = Path(sys.prefix) / "rp2040js" / "package"
"""Where `tools/setup.sh slow` puts npm's package."""


@contextlib.contextmanager
def rp2040_socket(image: Path) -> Iterator[str]:
    """The URL of a TCP port that leads to a Raspberry Pi Pico's `firmware.bin` in rp2040js."""
    node = shutil.which("node")
    if node is None or not RP2040JS.is_dir():
        pytest.skip("node or rp2040js is not installed: tools/setup.sh slow")
    script = Path(__file__).with_name("rp2040_machine.mjs")
    command = [node, str(script), str(RP2040JS), str(image)]
    with _running(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        found = re.fullmatch(r"port (\d+)\n", child.stdout.readline())
        assert found is not None, "rp2040js did not start"
        yield f"socket://127.0.0.1:{found[1]}"


def noise(seed: int, share: float) -> Damage:
    """Flips one bit in this share of the bytes; deterministic."""
    random = np.random.default_rng(seed)

    def damage(data: bytes) -> bytes:
        flips = random.random(len(data)) < share
        bits = 1 << random.integers(0, 8, len(data))
        return bytes(
            byte ^ int(bit) if flip else byte
            for byte, bit, flip in zip(data, bits, flips, strict=True)
        )

    return damage


def ending(after_bytes: int, *, silent: bool) -> Damage:
    """Passes this many bytes; then the line is cut, or passes nothing any more."""
    passed = 0

    def damage(data: bytes) -> bytes | None:
        nonlocal passed
        passed += len(data)
        if passed <= after_bytes:
            return data
        return b"" if silent else None

    return damage


@contextlib.contextmanager
def disturbed(url: str, damage: Damage) -> Iterator[str]:
    """The URL of a TCP port that passes bytes on to another and back, damaged both ways."""
    host, number = url.removeprefix("socket://").split(":")
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                if select.select([server], [], [], 0.05)[0]:
                    client, _ = server.accept()
                    with client, socket.create_connection((host, int(number))) as board:
                        _pass_on(client, board, damage, stop)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"socket://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()


def _pass_on(one: socket.socket, two: socket.socket, damage: Damage, stop: threading.Event) -> None:
    while not stop.is_set():
        for end in select.select([one, two], [], [], 0.05)[0]:
            data = end.recv(4096)
            passed = damage(data) if data else None
            if passed is None:
                return
            (two if end is one else one).sendall(passed)
