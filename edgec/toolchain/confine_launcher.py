"""Runs a program that can read files, compute and answer on its pipes, and nothing else.

A script of its own, run by `toolchain.confined` as ``python -I -S confine_launcher.py MODE PROGRAM
ARGUMENTS...``.  MODE is ``namespaces``: the program sees no network and no other process, and all
file systems are read-only for it; or ``seal``: Bubblewrap has done that.  In both, the program has
no capabilities, can gain no privileges, and can open no socket, as those of a desktop or of Docker
lie in the file system, where a missing network does not hide them.

Sources: Linux man pages unshare(2), mount_setattr(2), seccomp(2), capabilities(7); system call
numbers: Linux, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

import ctypes
import os
import platform
import signal
import struct
import sys

_LIBC = ctypes.CDLL(None, use_errno=True)

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 24, 38, 22
_SECCOMP_MODE_FILTER = 2
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x20080522
_MOUNT_SETATTR = 442  # alike on all architectures
_EPERM = 1

# Of an architecture: AUDIT_ARCH, the number of capset, and those of the calls that are refused:
# socket, socketpair, connect, io_uring_setup (which can do what the others do).
_CALLS = {
    "x86_64": (0xC000003E, 126, (41, 53, 42, 425)),
    "aarch64": (0xC00000B7, 91, (198, 199, 203, 425)),
}
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | _EPERM


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        sys.exit(f"cannot confine: {what}: {os.strerror(number)}")


def separate() -> None:
    """New namespaces for this process and, of processes, for its children; files read-only."""
    user, group = os.geteuid(), os.getegid()
    kinds = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWNET | _CLONE_NEWPID
    _check(_LIBC.unshare(kinds | _CLONE_NEWIPC | _CLONE_NEWUTS), "unshare")
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, text in maps.items():
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  (pathlib loads slowly)
            file.write(text)
    _check(_LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None), "mount")
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    flags = (ctypes.c_int(_AT_FDCWD), b"/", ctypes.c_uint(_AT_RECURSIVE))
    done = _LIBC.syscall(_MOUNT_SETATTR, *flags, attributes, ctypes.c_size_t(len(attributes)))
    _check(done, "mount_setattr")


def seal() -> None:
    """Give up all that this process could do beside computing, for good."""
    _check(_LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    for capability in range(_LAST_CAPABILITY + 1):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # it has few of them, or none
    _check(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    found = _CALLS.get(platform.machine())
    if found is None:
        return
    architecture, capset, refused = found
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _check(_LIBC.syscall(capset, header, bytes(24)), "capset")
    program = _filter(architecture, refused)
    code = ctypes.create_string_buffer(program)
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    _check(_LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, described, 0, 0), "seccomp")


def _filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """The program that the kernel asks at each system call, in classic BPF."""
    last = len(refused) + 1  # the instruction that refuses, counted from the first comparison
    steps = [
        (_LOAD, 0, 0, 4),  # seccomp_data.arch
        (_EQUAL, 0, last + 2, architecture),
        (_LOAD, 0, 0, 0),  # seccomp_data.nr
        (_AT_LEAST, last, 0, _X32),
        *((_EQUAL, last - 1 - index, 0, number) for index, number in enumerate(refused)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _become(words: list[str]) -> None:
    try:
        os.execv(words[0], words)
    except OSError as error:
        sys.exit(f"cannot start {words[0]}: {error.strerror}")


def main() -> None:
    """Run the program of the command line."""
    mode, *words = sys.argv[1:]
    if mode == "seal":
        seal()
        _become(words)
    separate()
    if os.fork() == 0:  # the first process of the new namespace: all others end with it
        seal()
        if os.fork() == 0:
            _become(words)
    _, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
