"""The architectures of `zoo.py`: their names, where they come from, and how each is made.

A name is `source:architecture`.  Sources are libraries (`timm`, `torchvision`, `transformers`,
`scikit-learn`, `keras`), networks of this repository (`own`) and known architectures written out in
`zoo_networks.py` (`written`) and `zoo_recurrent.py` (`recurrent`).  What a library is not installed
for is left out, with a line.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_TIMM = """
    botnet26t_256 coat_lite_tiny convmixer_768_32 convnext_atto convnextv2_atto cs3darknet_focus_s
    cspdarknet53 deit_tiny_patch16_224 dla46_c edgenext_xx_small efficientformerv2_s0
    efficientnet_b0 efficientnet_lite0 efficientvit_b0 efficientvit_m0 ese_vovnet19b_slim_dw
    fastvit_t8 fbnetc_100 gernet_s ghostnet_050 gmlp_ti16_224 hardcorenas_a hgnetv2_b0
    inception_next_atto lcnet_035 levit_128s mambaout_femto mixnet_s mnasnet_small
    mobilenetv2_035 mobilenetv3_small_050 mobilenetv4_conv_small_035 mobileone_s0 mobilevit_xxs
    mobilevitv2_050 nf_regnet_b0 pit_ti_224 poolformer_s12 poolformerv2_s12 pvt_v2_b0 regnetx_002
    regnety_002 repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_26w_4s resmlp_12_224 resnet10t
    resnetv2_18 rexnet_100 selecsls42 semnasnet_075 skresnet18 spnasnet_100 starnet_s1
    swin_s3_tiny_224 test_vit tf_efficientnetv2_b0 tiny_vit_5m_224 tinynet_e visformer_tiny
    vit_tiny_patch16_224 xcit_nano_12_p16_224
"""
_TORCHVISION = """
    densenet121 efficientnet_b0 googlenet mnasnet0_5 mobilenet_v2 mobilenet_v3_small
    regnet_y_400mf resnet18 shufflenet_v2_x0_5 squeezenet1_1 swin_t fcn_resnet50
"""
_TRANSFORMERS = "albert bert distilbert electra gpt2 llama mobilebert qwen2 roberta vit"
_SKLEARN = """
    decision_tree gradient_boosting linear_regression logistic_regression mlp_classifier
    mlp_regressor pca_logistic random_forest ridge scaler_mlp scaler_svc svc
"""
_KERAS = """
    attention autoencoder cnn convnext_tiny densenet121 efficientnet_b0 mobilenet mobilenet_v2
    mobilenet_v3_small nasnet_mobile separable temporal unet
"""
_OWN = "bert bert_sdpa cct causal cvt deit encoder gated mobilevit padded pooled_keys swin"
_WRITTEN = """
    alexnet_small autoencoder crnn_conv ds_cnn fpn grouped_norm inception instance_norm mixer
    mlp pixel_shuffle resnet8 segmenter senet shuffle_unit squeeze_fire tcn unet vgg_small
    wavenet yolo_head
"""
_RECURRENT = """
    attended_gru characters_lstm coder_lstm crnn_gru denoiser_gru elman gru_cells gru_imu gru_step
    lstm_cells lstm_imu lstm_step mask_lstm rnn tagger_lstm vad_lstm
"""
SOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "written": ("torch", tuple(_WRITTEN.split())),
        "recurrent": ("torch", tuple(_RECURRENT.split())),
        "own": ("torch", tuple(_OWN.split())),
        "timm": ("timm", tuple(_TIMM.split())),
        "torchvision": ("torchvision", tuple(_TORCHVISION.split())),
        "transformers": ("transformers", tuple(_TRANSFORMERS.split())),
        "scikit-learn": ("skl2onnx", tuple(_SKLEARN.split())),
        "keras": ("tensorflow", tuple(_KERAS.split())),
    }
)
"""By source: the package that it needs, and its architectures."""


TENSORFLOW = "EDGEC_ZOO_TENSORFLOW"
"""Environment variable: the folder with TensorFlow, which no process of edgec may import."""


def architectures() -> list[str]:
    """The names of all architectures whose library is installed."""
    return [
        f"{source}:{name}"
        for source, (package, names) in SOURCES.items()
        if _is_installed(package)
        for name in names
    ]


def missing() -> list[str]:
    """The packages that are not installed."""
    packages = {package for package, _ in SOURCES.values()}
    return sorted(package for package in packages if not _is_installed(package))


def exporters(name: str, wanted: str) -> tuple[str, ...]:
    """The exporters of an architecture: "old" and "new" are PyTorch's."""
    if name.startswith("scikit-learn:"):
        return ("skl2onnx",)
    if name.startswith("keras:"):
        return ("tflite-float", "tflite-int8")
    return ("old", "new") if wanted == "both" else (wanted,)


def _is_installed(package: str) -> bool:
    if package == "tensorflow":
        return Path(os.environ.get(TENSORFLOW, "."), package).is_dir()
    return importlib.util.find_spec(package) is not None
