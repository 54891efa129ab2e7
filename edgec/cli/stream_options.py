"""Options of networks that live in time, with their help texts."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.cli.help import INPUT, STREAMS

StreamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stream",
        metavar="[INPUT=]1",
        help="For networks with a window of time: take a few frames a run and keep what is needed "
        "of those before. The number is the axis of time of INPUT, which is not needed if there is "
        "only one.",
        rich_help_panel=STREAMS,
    ),
]
FrontEndOption = Annotated[
    str | None,
    typer.Option(
        "--front-end",
        metavar="NAME[:KEY=VALUE,...]",
        help="Compute what the network takes, in integers: features of sound (log-mel, mfcc, "
        "mlperf-sww, mlperf-kws, kaldi-fbank, kaldi-mfcc, micro) or of a sensor (sensor), images "
        "of a camera's frames (image); none: not even what the model's file names. Samples and "
        "calibration data may then be recordings, or frames.",
        rich_help_panel=STREAMS,
    ),
]
ResampleOption = Annotated[
    bool,
    typer.Option(
        "--resample",
        help="Bring recordings of another rate to that of the front end, which refuses them "
        "otherwise.",
        rich_help_panel=INPUT,
    ),
]
StreamFrames = Annotated[
    int | None,
    typer.Option(
        "--stream-frames",
        metavar="N",
        help="Frames that a run brings (default: as few as the strides of the network allow).",
        rich_help_panel=STREAMS,
    ),
]
AllowDelay = Annotated[
    bool,
    typer.Option(
        "--allow-delay",
        help="Let outputs come some frames late, where layers look ahead in time.",
        rich_help_panel=STREAMS,
    ),
]
