"""Options in one line each, for `--help`; `--help-all` has all there is to say."""

from __future__ import annotations

from collections.abc import Mapping

_FILES = ".npz, .csv, .wav, folder, ..."

ONE_LINE: Mapping[str, str] = {
    "battery": "With --rate: how many days a battery lasts",
    "board": "Board name (edgec boards) or a .toml file",
    "calibration": f"Typical inputs: {_FILES}",
    "data": f"Inputs and labels: {_FILES}",
    "effort": "How hard to search for integer weights",
    "evaluation": "Measure accuracy on these labelled samples",
    "example": "A network for digits, or for two words",
    "fit": "Limits; the best build within them is chosen",
    "form": "Build system that the library is for",
    "input": f"Inputs: {_FILES}",
    "html": "Write a page with charts",
    "labels": "Names of the classes, one a line",
    "max_length": "Let each run choose how many tokens it takes",
    "memory": "Where code and weights lie",
    "normalize": "From pixels or sound to the model's numbers",
    "on": "Where the build runs",
    "optimize": "Small code or fast code",
    "port": "Serial port of the board (default: the only one)",
    "precision": "Element type of activations",
    "resample": "Bring recordings to the rate of the front end",
    "state": "Keep an output for the next run",
    "threshold": "With sound: the least score of a detection",
    "tolerance": "How much worse figures may be",
    "train": "Train on these labelled samples",
    "tune": "Tune file: the fastest kernel of each layer",
    "value": "Fix an input to a number",
    "check project": "Folder with edgec.toml, or such a file",
    "compress bits": "Weights of so few bits in place of a pool",
    "compress board": "With --max-drop: estimate time on this board",
    "compress html": "With --max-drop: draw what was tried",
    "compress max_drop": "The smallest pools that lose at most POINTS",
    "compress output": "File to write (default: beside the model)",
    "evaluate html": "Page with confusions and the wrong samples",
    "explore board": "Board; repeat it to compare several",
    "explore data": "Samples that judge the builds",
    "flash port": "Which board, where several are plugged in",
    "profile input": "The first sample is run (default: noise)",
    "profile on": "device: beside the estimate a plugged-in board",
    "report data": "Inputs, best with labels, for the accuracy",
    "report on": "Where the build runs (default: host)",
    "validate data": "Inputs (default: noise)",
    "check update": "Write the figures of this build, to be committed",
    "explore select": 'Build one: "drop<=0.5 smallest flash"',
    "explore fit": "Limits that builds must keep",
    "explore out": "Folder (default: build/explore-<model>)",
    "watch input": "Samples or a recording (default: noise)",
    "watch rate": "Samples a second (default: 2)",
}
"""Parameter, or command and parameter, to its line; others fit a line as they are."""
