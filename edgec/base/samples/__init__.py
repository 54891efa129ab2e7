"""Sample files: calibration data, inputs to run, labelled data to train on and to evaluate.

`file` is the one way in, whatever the format: `load_samples` and `load_labelled` find the reader by
the name of the file, and `checks` holds what was read against what the model takes.  Each format is
one module with one function, `read`.  docs/samples.md describes the formats for users.
"""

from edgec.base.samples.checks import check_samples
from edgec.base.samples.file import SampleFile, Samples, load_given, load_labelled, load_samples
from edgec.base.samples.normalize import Normalize
from edgec.base.samples.npz import npz_path, save_npz
from edgec.base.samples.request import InputSpec
from edgec.base.samples.wav import read_sound

__all__ = [
    "InputSpec",
    "Normalize",
    "SampleFile",
    "Samples",
    "check_samples",
    "load_given",
    "load_labelled",
    "load_samples",
    "npz_path",
    "read_sound",
    "save_npz",
]
