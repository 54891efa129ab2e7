"""Another operating system, played: the modules and attributes that Windows lacks are gone.

    python bare_system.py ARGUMENTS...   runs the command line of edgec that way
    python bare_system.py -c CODE ...    runs Python code that way

Packages that choose by `sys.platform` are loaded before: on Windows they have another half for it.
"""

import importlib
import os
import shutil
import signal
import sys
import types

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "syslog")
OF_OS = (
    *("getuid", "geteuid", "getgid", "getegid", "killpg", "getpgid", "setsid", "fork", "statvfs"),
    *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "ST_NOEXEC", "fchown"),
    *("chown", "lchown", "mkfifo", "uname", "sysconf", "getloadavg", "sched_getaffinity"),
)
OF_SIGNAL = (
    *("SIGHUP", "SIGALRM", "SIGKILL", "SIGXFSZ", "SIGSTOP", "SIGCONT", "SIGPIPE", "ITIMER_REAL"),
    *("setitimer", "getitimer", "alarm", "pthread_sigmask", "pthread_kill"),
)
CHOOSE_BY_PLATFORM = (
    *("subprocess", "multiprocessing.popen_spawn_posix", "psutil", "filelock", "serial"),
    *("getpass", "tempfile", "platform", "concurrent.futures.process", "asyncio"),
    *("numpy", "onnx", "onnxruntime"),
)


def whole(module: types.ModuleType) -> types.ModuleType:
    """A copy that keeps all that is hidden from others."""
    copy = types.ModuleType(module.__name__)
    copy.__dict__.update(module.__dict__)
    return copy


def hide() -> None:
    """Hide them from all that is loaded afterwards."""
    for name in CHOOSE_BY_PLATFORM:
        importlib.import_module(name)
    copies = {"os": whole(os), "_os": None, "signal": whole(signal)}
    copies["_os"] = copies["os"]
    for module in list(sys.modules.values()):
        if module not in (os, signal, sys.modules["__main__"]):
            for name, copy in copies.items():
                if getattr(module, name, None) in (os, signal):
                    setattr(module, name, copy)
    for name in MODULES:
        sys.modules[name] = None
    for name in OF_OS:
        delattr(os, name)
    for name in OF_SIGNAL:
        delattr(signal, name)
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        getattr(os, name).clear()
    shutil._use_fd_functions = False


if __name__ == "__main__":
    sys.path.pop(0)
    hide()
    if sys.argv[1] == "-c":
        code = sys.argv[2]
        sys.argv[1:3] = []
        exec(code)  # of a test
    else:
        from edgec.__main__ import main

        main()
