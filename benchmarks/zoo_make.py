"""Makes one model of the zoo: random but sane weights, exported, with data beside it.

    python benchmarks/zoo_make.py written:unet old FOLDER     # model.onnx, data.npz, test.npz

Weights keep the size of activations (as large as the inputs of a product allow), factors of layer
scale are not tiny, norms and biases differ from one and zero, and batch norms have the statistics
of the data.  Images are noise on several scales.

A deep chain of random layers with batch norms is chaotic: noise of 1 % in an image leaves 9 dB at
the output of MobileNetV2, whoever computes it, where 40 dB went in.  Biases of batch norms around
one half, so that activations cut off less, leave 25 dB there, and 37 at the output of ResNet-18.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

CALIBRATION, TEST, NORMS = 8, 4, 24
_SEED = 11
_NORM_BIAS = 0.5
_TOKENS, _WORDS = 16, 64
_OLD_OPSET, _NEW_OPSET = 17, 20
_TIMM_SIZES = {"224": 224, "256": 128, "levit": 224, "efficientformerv2": 224, "tiny_vit": 224}
"""Sides of images by what a name holds, where 64 does not do."""


def images(count: int, shape: tuple[int, ...]) -> np.ndarray:
    """Noise on several scales; float32 [count, *shape]."""
    rng = np.random.default_rng(_SEED)
    total = np.zeros((count, *shape))
    for block in (1, 4, 16):
        coarse = [math.ceil(size / block) for size in shape[1:]]
        noise = rng.normal(size=(count, shape[0], *coarse))
        for axis in range(2, 2 + len(coarse)):
            noise = noise.repeat(block, axis)
        total += noise[(slice(None), slice(None), *(slice(size) for size in shape[1:]))]
    return (total / 1.7).astype(np.float32)


def make_sane(module: Any) -> None:
    """Give a network weights that neither let activations vanish nor explode."""
    import torch
    from torch.nn.modules.batchnorm import _BatchNorm

    generator = torch.Generator().manual_seed(_SEED)
    for name, parameter in module.named_parameters():
        words = name.lower()
        with torch.no_grad():
            noise = torch.randn(parameter.shape, generator=generator)
            if any(word in words for word in ("gamma", "layer_scale", ".ls", "lambda")):
                parameter.copy_(0.5 + 0.05 * noise)
            elif parameter.ndim < 2:
                parameter.copy_(float(words.endswith("weight")) + 0.1 * noise)
            elif any(word in words for word in ("embed", "token", "bias", "pos")):
                parameter.copy_(0.5 * noise)
            else:
                parameter.copy_(noise * 1.2 / math.sqrt(parameter[0].numel()))
    for part in module.modules():
        if isinstance(part, _BatchNorm) and part.bias is not None:
            part.bias.data += _NORM_BIAS


def fit_batch_norms(module: Any, inputs: tuple[Any, ...]) -> None:
    """Let batch norms have the statistics of the data; all else runs as in inference."""
    import torch
    from torch.nn.modules.batchnorm import _BatchNorm

    module.eval()
    norms = [m for m in module.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    if not norms:  # some networks run one sample at a time only
        return
    for part in norms:
        part.reset_running_stats()
        part.momentum = None
        part.train()
    with torch.no_grad():
        module(*inputs)
    module.eval()


def network(source: str, name: str) -> tuple[Any, tuple[np.ndarray, ...]]:
    """A network of PyTorch, and inputs [CALIBRATION + TEST + NORMS, ...]."""
    count = CALIBRATION + TEST + NORMS
    match source:
        case "recurrent":
            from zoo_recurrent import NETWORKS as RECURRENT
            from zoo_recurrent import inputs_of

            found = RECURRENT[name]
            return found.make(), tuple(inputs_of(found, count).values())
        case "written":
            from zoo_networks import NETWORKS

            maker, shape = NETWORKS[name]
            return maker(), (images(count, shape),)
        case "own":
            return _own(name, count)
        case "timm":
            return _timm(name, count)
        case "torchvision":
            import torchvision

            models = torchvision.models
            maker = getattr(models, name, None) or getattr(models.segmentation, name)
            more = {"init_weights": False} if name == "googlenet" else {}
            if name == "fcn_resnet50":
                more = {"weights_backbone": None}
            return maker(num_classes=10, **more), (images(count, (3, 64, 64)),)
        case _:
            return _transformer(name, count)


def _own(name: str, count: int) -> tuple[Any, tuple[np.ndarray, ...]]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
    from exported_transformers import inputs_of
    from exported_transformers import network as own_network

    rng = np.random.default_rng(_SEED)
    arrays = []
    for example in inputs_of(name):
        shape = (count, *example.shape[1:])
        if example.dtype.kind == "f":
            arrays.append(rng.normal(size=shape).astype(np.float32))
        elif example.dtype.kind == "i" and example.max() > 1:
            arrays.append(rng.integers(0, example.max() + 1, shape))
        else:
            arrays.append(np.repeat(example, count, 0))
    return own_network(name), tuple(arrays)


def _timm(name: str, count: int) -> tuple[Any, tuple[np.ndarray, ...]]:
    import timm

    side = next((size for word, size in _TIMM_SIZES.items() if word in name), 64)
    try:
        found = timm.create_model(name, num_classes=10, img_size=64)
        side = 64
    except (TypeError, AssertionError, ValueError):
        found = timm.create_model(name, num_classes=10)
    return found, (images(count, (3, side, side)),)


def _transformer(name: str, count: int) -> tuple[Any, tuple[np.ndarray, ...]]:
    import transformers as hf

    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    more = {"intermediate_size": 64, "vocab_size": _WORDS, "attn_implementation": "eager"}
    rng = np.random.default_rng(_SEED)
    ids = rng.integers(1, _WORDS, (count, _TOKENS))
    kinds = {
        "albert": (hf.AlbertModel, hf.AlbertConfig(**size, **more, embedding_size=16)),
        "bert": (hf.BertModel, hf.BertConfig(**size, **more)),
        "distilbert": (
            hf.DistilBertModel,
            hf.DistilBertConfig(vocab_size=_WORDS, dim=32, n_layers=2, n_heads=4, hidden_dim=64),
        ),
        "electra": (hf.ElectraModel, hf.ElectraConfig(**size, **more, embedding_size=32)),
        "gpt2": (
            hf.GPT2Model,
            hf.GPT2Config(vocab_size=_WORDS, n_embd=32, n_layer=2, n_head=4, use_cache=False),
        ),
        "llama": (hf.LlamaModel, hf.LlamaConfig(**size, **more, num_key_value_heads=2)),
        "mobilebert": (
            hf.MobileBertModel,
            hf.MobileBertConfig(**size, **more, embedding_size=16, intra_bottleneck_size=16),
        ),
        "qwen2": (hf.Qwen2Model, hf.Qwen2Config(**size, **more, num_key_value_heads=2)),
        "roberta": (hf.RobertaModel, hf.RobertaConfig(**size, **more)),
        "vit": (
            hf.ViTModel,
            hf.ViTConfig(**size, intermediate_size=64, image_size=32, patch_size=8),
        ),
    }
    maker, config = kinds[name]
    config.use_cache = False
    given = images(count, (3, 32, 32)) if name == "vit" else ids
    return _first_output(maker(config)), (given,)


def _first_output(inner: Any) -> Any:
    """A module that gives the first of the outputs."""
    from torch import nn

    class First(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Any) -> Any:
            return self.inner(x, return_dict=False)[0]

    return First()


def export(source: str, name: str, exporter: str, folder: Path) -> None:
    """Write the model and its data."""
    import torch

    torch.manual_seed(_SEED)
    module, arrays = network(source, name)
    if source != "own":
        make_sane(module)
    tensors = tuple(torch.from_numpy(array) for array in arrays)
    fit_batch_norms(module, tensors)
    names, outputs = [f"input_{index}" for index in range(len(arrays))], None
    if source == "recurrent":
        # A state and what it becomes have names from which edgec sees that they belong together.
        from zoo_recurrent import NETWORKS

        states = list(NETWORKS[name].states)
        names = ["x", *states]
        outputs = ["y", *(f"{state}n" for state in states)] if states else None
    new = exporter == "new"
    torch.onnx.export(
        module,
        tuple(tensor[:1] for tensor in tensors),
        str(folder / "model.onnx"),
        input_names=names,
        output_names=outputs,
        opset_version=_NEW_OPSET if new else _OLD_OPSET,
        dynamo=new,
        **({"external_data": False} if new else {}),
    )
    _save(
        folder, {n: a for n, a in zip(names, arrays, strict=True) if f"{n}n" not in (outputs or ())}
    )


def _save(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(folder / "data.npz", **{n: a[:CALIBRATION] for n, a in arrays.items()})
    np.savez(
        folder / "test.npz", **{n: a[CALIBRATION : CALIBRATION + TEST] for n, a in arrays.items()}
    )


def sklearn_model(name: str, folder: Path) -> None:
    """Fit a pipeline of scikit-learn and write it, without a dictionary at its end."""
    from skl2onnx import to_onnx
    from sklearn import (
        base,
        datasets,
        decomposition,
        ensemble,
        linear_model,
        neural_network,
        svm,
        tree,
    )
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = datasets.load_wine(return_X_y=True)
    order = np.random.default_rng(_SEED).permutation(len(x))
    x, y = x[order].astype(np.float32), y[order]
    layers = {"hidden_layer_sizes": (16,), "max_iter": 300, "random_state": 0}
    few = {"n_estimators": 8, "max_depth": 4, "random_state": 0}
    found = {
        "decision_tree": lambda: tree.DecisionTreeClassifier(max_depth=5, random_state=0),
        "gradient_boosting": lambda: ensemble.GradientBoostingClassifier(**few),
        "linear_regression": linear_model.LinearRegression,
        "logistic_regression": lambda: linear_model.LogisticRegression(max_iter=9000),
        "mlp_classifier": lambda: neural_network.MLPClassifier(**layers),
        "mlp_regressor": lambda: neural_network.MLPRegressor(**layers),
        "pca_logistic": lambda: make_pipeline(
            StandardScaler(), decomposition.PCA(5), linear_model.LogisticRegression()
        ),
        "random_forest": lambda: ensemble.RandomForestClassifier(**few),
        "ridge": linear_model.Ridge,
        "scaler_mlp": lambda: make_pipeline(
            StandardScaler(), neural_network.MLPClassifier(**layers)
        ),
        "scaler_svc": lambda: make_pipeline(StandardScaler(), svm.SVC(random_state=0)),
        "svc": lambda: svm.SVC(random_state=0),
    }[name]()
    found.fit(x, y)
    options = {"zipmap": False} if base.is_classifier(found) else None
    model = to_onnx(found, x[:1], options=options, target_opset={"": 17, "ai.onnx.ml": 3})
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    count = CALIBRATION * 8 + TEST * 4
    np.savez(folder / "data.npz", X=x[: CALIBRATION * 8])
    np.savez(folder / "test.npz", X=x[CALIBRATION * 8 : count])


def main() -> None:
    """Make the model that the command line names."""
    label, exporter, target = sys.argv[1:]
    source, name = label.split(":")
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        if source == "scikit-learn":
            sklearn_model(name, folder)
            return
        if source == "keras":
            from zoo_keras import make

            make(name, exporter.removeprefix("tflite-"), folder)
            return
        _let_torchvision_load()
        export(source, name, exporter, folder)


def _let_torchvision_load() -> None:
    """Declare the operators of torchvision whose C code does not load beside a CPU build."""
    import torch

    try:
        importlib.import_module("torchvision")
    except ImportError:
        return
    except RuntimeError:
        for loaded in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[loaded]
        library = torch.library.Library("torchvision", "DEF")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        globals()["_LIBRARY"] = library


if __name__ == "__main__":
    main()
