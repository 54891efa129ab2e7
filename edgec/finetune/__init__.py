"""Training with PyTorch that simulates the arithmetic of firmware.

Owns: what a user trains with (`options`), REAL graphs as PyTorch networks (`operators`, `layers`,
`network`, `ranges`, `steps`), the run itself (`run`, `batches`, `checkpoint`), and two students:
networks with weight pools (`pooled`), and networks that compute in the integers of an annotated
graph (`integers`).  The only importer of torch, which is loaded when training starts.
May import: layers below.
"""

from __future__ import annotations

from importlib.util import find_spec

from edgec.base.errors import ConfigError


def need_pytorch(device: str, devices: int = 1) -> None:
    """Refuse to train where nothing can be trained.

    Args:
        device: "auto", "cpu" or "cuda".
        devices: how many of them.

    Raises:
        ConfigError: PyTorch is not installed, the device is not there, or fewer of them than
            asked for.
    """
    if find_spec("torch") is None:
        raise ConfigError(
            "fine-tuning needs PyTorch, which is not installed",
            where="--train",
            hint="pip install '.[train]' in the checkout of edgec, or leave --train out",
        )
    from edgec.finetune.run import chosen_device  # noqa: PLC0415  (imports PyTorch)

    chosen_device(device, devices)
