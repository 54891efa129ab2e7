"""Board manifests of PlatformIO: what a JSON file of its `boards/` folders says of a board.

Source: PlatformIO documentation, "Custom Embedded Boards".
"""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.base.limits import MAX_BOARD_BYTES
from edgec.target.memory_map import ByteCount

_LOOSE = ConfigDict(extra="ignore", str_max_length=400)
_HINT = "give a JSON file of the folder boards/ of a PlatformIO platform"


def _hertz(value: Any) -> Any:
    """A clock like "168000000L", as C code writes it."""
    return int(value.rstrip("uUlL")) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, config=_LOOSE)
class _Build:
    cpu: str = ""
    mcu: str = ""
    f_cpu: Annotated[int, BeforeValidator(_hertz), Field(ge=0, le=4_000_000_000)] = 0


@dataclass(frozen=True, slots=True, config=_LOOSE)
class _Upload:
    maximum_size: ByteCount | None = None
    maximum_ram_size: ByteCount | None = None


@dataclass(frozen=True, slots=True, config=_LOOSE)
class _Debug:
    openocd_target: str = ""


@dataclass(frozen=True, slots=True, config=_LOOSE)
class _Data:
    build: _Build
    name: str = ""
    vendor: str = ""
    upload: _Upload = field(default_factory=_Upload)
    debug: _Debug = field(default_factory=_Debug)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Contents of a manifest.

    Attributes:
        file: its name, without folders.
        name: the board in words; empty: not said.
        vendor: who makes it; empty: not said.
        cpu: processor core, as GCC's -mcpu names it; empty: not said.
        mcu: the microcontroller; empty: not said.
        clock_hz: core clock; 0: not said.
        flash_bytes: size of the flash for programs; None: not said.
        ram_bytes: size of all RAM; None: not said.
        openocd_target: configuration file of OpenOCD; empty: not said.
    """

    file: str
    name: str
    vendor: str
    cpu: str
    mcu: str
    clock_hz: int
    flash_bytes: int | None
    ram_bytes: int | None
    openocd_target: str


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file.

    Raises:
        ConfigError: it cannot be read, or is no manifest.
    """
    try:
        if path.stat().st_size > MAX_BOARD_BYTES or not path.is_file():
            raise ConfigError("no manifest: not a file below 64 KB", where=str(path), hint=_HINT)
        data = _ADAPTER.validate_python(json.loads(path.read_text("utf-8")))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot read the manifest: {reason}", where=str(path)) from error
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_input=False)
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        reason = f"no manifest: {key}: {first['msg']}"
        raise ConfigError(reason, where=str(path), hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not a JSON file: {error}", where=str(path), hint=_HINT) from error
    build, upload = data.build, data.upload
    return Manifest(
        file=path.name,
        name=data.name,
        vendor=data.vendor,
        cpu=build.cpu,
        mcu=build.mcu,
        clock_hz=build.f_cpu,
        flash_bytes=upload.maximum_size,
        ram_bytes=upload.maximum_ram_size,
        openocd_target=data.debug.openocd_target,
    )


_ADAPTER: TypeAdapter[_Data] = TypeAdapter(_Data)
