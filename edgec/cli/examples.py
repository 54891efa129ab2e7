"""Examples at the end of each `--help`, and the options that most people need."""

from __future__ import annotations

from collections.abc import Mapping

SHORT: Mapping[str, str] = {
    "new": "make a project folder to begin with",
    "compile": "model -> quantized -> C -> firmware, checked bit for bit",
    "check": "build a project; fail if it became larger, slower or worse",
    "run": "run a build on inputs",
    "watch": "results of a build as they come, with time and energy",
    "evaluate": "accuracy of a build on labelled data, beside float",
    "validate": "compare every layer of a build with the reference",
    "profile": "time and energy of every layer, without a board",
    "report": "one page on a build, for a browser",
    "compare": "several builds side by side",
    "quantize": "write a quantized ONNX file; train in integers",
    "compress": "make weights 7 to 10 times smaller by shared vectors",
    "explore": "try builds; show those that none beats",
    "tune": "measure kernels of layers; keep the fastest",
    "bundle": "several builds in one firmware",
    "export": "C library for Arduino, CMake, ESP-IDF, Zephyr, ...",
    "inspect": "operators of a model, and what is not supported",
    "cache": "what is kept of builds",
    "doctor": "what is installed, what is missing, how to get it",
    "flash": "write a build to a board",
    "boards": "the boards; show one; make one",
    "boards show": "memory, serial line and upload of a board",
    "boards new": "write a file for a new board",
}
"""Command to what it does, for lists of commands."""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": ("edgec compile model.onnx --board nucleo --calibration samples.npz",),
    "new": (
        "edgec new digits --board nucleo",
        "edgec new wake --example wakeword --board pico",
    ),
    "compile": (
        "edgec compile model.onnx --board nucleo --calibration samples.npz",
        "edgec compile model.tflite --board f446 --out build/mine",
        "edgec compile model.onnx --board nucleo --calibration images/ --normalize scale=1/255",
    ),
    "check": ("edgec check --update", "edgec check --markdown table.md"),
    "run": ("edgec run build/mine --input samples.npz --on emulator",),
    "watch": (
        "edgec watch build/mine",
        "edgec watch build/mine --input samples.npz --on emulator",
        "edgec watch build/ear --input clip.wav --on host",
    ),
    "evaluate": ("edgec evaluate build/mine --data labelled.npz --on emulator",),
    "validate": (
        "edgec validate build/mine --on emulator",
        "edgec validate build/mine --data samples.npz --on device",
    ),
    "profile": ("edgec profile build/mine", "edgec profile build/mine --rate 10 --battery 1000mAh"),
    "report": ("edgec report build/mine", "edgec report build/mine --data labelled.npz"),
    "compare": ("edgec compare build/before build/after",),
    "quantize": ("edgec quantize model.onnx --calibration samples.npz -o model.int8.onnx",),
    "compress": (
        "edgec compress model.onnx --calibration samples.npz",
        "edgec compress model.onnx --calibration samples.npz --eval labelled.npz --max-drop 1",
    ),
    "explore": (
        "edgec explore model.onnx --board nucleo --calibration samples.npz",
        "edgec explore model.onnx --board nucleo --calibration samples.npz "
        '--fit flash=64K --select "drop<=0.5 smallest flash"',
        "edgec explore --worker --storage shared/study.journal",
    ),
    "tune": (
        "edgec tune model.onnx --board nucleo",
        "edgec tune model.onnx --board nucleo --tune shared/kernels.toml",
        "edgec compile model.onnx --board nucleo --tune shared/kernels.toml",
    ),
    "bundle": ("edgec bundle build/one build/two --out build/both",),
    "export": ("edgec export build/mine --as arduino", "edgec export build/mine --as idf"),
    "inspect": ("edgec inspect model.onnx",),
    "cache": ("edgec cache", "edgec cache --clear"),
    "doctor": ("edgec doctor", "edgec doctor -v"),
    "flash": ("edgec flash build/mine",),
    "boards": ("edgec boards", "edgec boards --find stm32", "edgec boards show f446"),
    "boards show": ("edgec boards show nucleo",),
    "boards new": ("edgec boards new my_board --like nucleo",),
}
"""Command to command lines that work on one's own files."""

COMMON: Mapping[str, frozenset[str]] = {
    name: frozenset(shown.split())
    for name, shown in {
        "compile": "model board calibration normalize shape precision effort out optimize fit html",
        "check": "project data limit update tolerance markdown json",
        "watch": "folder input normalize on port limit rate threshold json",
        "evaluate": "folder data normalize on port limit html json",
        "validate": "folder data normalize on port limit html json",
        "profile": "folder input normalize memory on port html rate battery json",
        "quantize": "model output calibration train epochs evaluation normalize shape effort json",
        "compress": "models output calibration train evaluation pool_size bits max_drop board html "
        "normalize",
        "explore": "models board calibration data normalize fit trials workers select out json",
        "tune": "model board calibration normalize shape precision optimize tune again workers",
    }.items()
}
"""Command with many options to the parameters that `--help` shows; others show all of theirs."""
