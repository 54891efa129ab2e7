"""Run a Python script on a computer with one USB serial port: usb_port.py PORT SCRIPT ARGUMENTS.

To pyserial's list of ports, PORT (a terminal behind which QEMU runs) is the ST-LINK/V2-1 of a
Nucleo board.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

ST_LINK_V2_1 = (0x0483, 0x374B)


def main() -> None:
    """Replace the list of ports, then be the script."""
    port, script, *arguments = sys.argv[1:]
    entry = ListPortInfo(port)
    entry.vid, entry.pid = ST_LINK_V2_1
    list_ports.comports = lambda include_links=False: [entry]
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
