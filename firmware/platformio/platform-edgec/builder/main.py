"""Build and upload, run by SCons inside PlatformIO.

Which processor, which sizes and which upload programs come from the board's manifest; every
other option of the compiler comes from platformio.ini.
"""

import sys
from pathlib import Path
from typing import Any

from SCons.Script import AlwaysBuild, Builder, Default, DefaultEnvironment

env = DefaultEnvironment()
board = env.BoardConfig()
is_hosted = board.get("build.hosted")
prefix = board.get("build.gcc_prefix")
PACKAGES = {
    "": "gcc",
    "aarch64-linux-gnu-": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "arm-linux-gnueabihf-": "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross",
    "arm-none-eabi-": "gcc-arm-none-eabi",
}

env.Replace(
    AR=f"{prefix}ar",
    AS=f"{prefix}gcc",
    CC=f"{prefix}gcc",
    CXX=f"{prefix}g++",
    LINK=f"{prefix}gcc",
    OBJCOPY=f"{prefix}objcopy",
    RANLIB=f"{prefix}ranlib",
    SIZETOOL=f"{prefix}size",
    PROGNAME="firmware",
    PROGSUFFIX=".elf",
)

core_flags = board.get("build.core_flags")
env.Append(ASFLAGS=core_flags, CCFLAGS=core_flags, LINKFLAGS=core_flags)
env.Append(LINKFLAGS=board.get("build.link_flags"))
# A main program of the user's own may be C++; it has no heap and no C++ library.
env.Append(CXXFLAGS=["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"])
if not is_hosted:
    env.Append(LINKFLAGS=["-nostartfiles", "-nostdlib"], LIBS=["gcc"])

if not env.WhereIs(env["CC"]):
    install = f"apt-get install {PACKAGES[prefix]}"
    sys.stderr.write(f"Error: {env['CC']} is not on PATH. Install it: {install}\n")
    env.Exit(1)

# The firmware shall not depend on where the project and the compiler lie.  Of two entries that
# match, gcc takes the last.
compiler_dir = Path(env.WhereIs(env["CC"])).resolve().parent.parent
for place, name in ((compiler_dir, "/compiler"), (env.subst("$PROJECT_DIR"), ".")):
    env.Append(CCFLAGS=[f"-ffile-prefix-map={place}={name}"])


def objcopy(form: str) -> Any:
    """Builder of an image in another format."""
    return Builder(
        action=env.VerboseAction(f"$OBJCOPY -O {form} $SOURCES $TARGET", "Building $TARGET"),
        suffix={"binary": ".bin", "ihex": ".hex"}[form],
    )


env.Append(BUILDERS={"ElfToBin": objcopy("binary"), "ElfToHex": objcopy("ihex")})
program = env.BuildProgram()
image = "$BUILD_DIR/firmware"
outputs = [program]
if not is_hosted:
    outputs += [env.ElfToBin(image, program), env.ElfToHex(image, program)]
build = env.Alias("buildprog", outputs)
Default(build)


def upload_command(tool: str) -> str:
    """The command line of `tool` that writes the program and starts it."""
    target = board.get("upload.openocd_target", "")
    interface = board.get("upload.openocd_interface", "")
    serial = env.subst("$UPLOAD_PORT") if "UPLOAD_PORT" in env else ""
    openocd = ["openocd", "-f", f"interface/{interface}.cfg", "-f", f"target/{target}.cfg"]
    openocd += ["-c", f'"adapter serial {serial}"'] if serial else []
    # Without --no-wait, pyOCD waits for a board that is not plugged in, for ever.
    pyocd = ["pyocd", "load", "--no-wait", "--target", board.get("upload.chip", "")]
    pyocd += ["--format", "elf"]
    st_flash = ["st-flash", "--reset", "--connect-under-reset"]
    commands = {
        "openocd": [*openocd, "-c", '"program $SOURCE verify reset exit"'],
        "pyocd": [*pyocd, *(["--uid", serial] if serial else []), "$SOURCE"],
        "st-flash": [
            *st_flash,
            *(["--serial", serial] if serial else []),
            *["write", f'"{image}.bin"', hex(int(board.get("build.flash_origin")))],
        ],
        # Arduino's bossac counts from the end of the boot loader.
        "bossac": [
            *["bossac", "-d", *([f"--port={serial}"] if serial else [])],
            *["-U", "-i", "-e", "-w", f'"{image}.bin"', "-R"],
        ],
        "teensy_loader_cli": [
            *["teensy_loader_cli", f"--mcu={board.get('upload.chip', '')}", "-v"],
            f'"{image}.hex"',
        ],
        "picotool": ["picotool", "load", "-x", "-t", "elf", "$SOURCE"],
    }
    return " ".join(commands[tool])


tools = board.get("upload.protocols", [])
asked = env.GetProjectOption("upload_protocol", "")
usable = [tool for tool in ([asked] if asked else tools) if tool in tools and env.WhereIs(tool)]
if usable:
    actions = [env.VerboseAction(upload_command(usable[0]), "Uploading $SOURCE")]
else:
    names = " or ".join(tools) or "no program"
    message = f"Error: no upload program on PATH; this board can use {names}\n"
    if is_hosted:
        message = "Error: copy firmware.elf to the board (scp) and start it there (ssh)\n"

    def refuse(target: Any, source: Any, env: Any) -> None:  # noqa: ARG001  (SCons names them)
        """Say what is missing."""
        sys.stderr.write(message)
        env.Exit(1)

    actions = [env.VerboseAction(refuse, "Looking for an upload program")]
env.AddPlatformTarget("upload", [program, *outputs[1:]], actions, "Upload")
AlwaysBuild(build)
