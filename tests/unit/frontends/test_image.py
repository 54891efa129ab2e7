"""Frames of cameras as images: the oracle, and the same bits in C."""

import numpy as np
import pytest
from access_order import events_of, surely_legal_distance
from hypothesis import given, settings
from hypothesis import strategies as st
from parity import check_host
from PIL import Image

from edgec.base.camera import (
    BYTES_OF_PIXEL,
    YUV,
    CameraForm,
    Rectangle,
    brightness,
    middle,
    resized,
    rgb_of,
    yuv_of,
)
from edgec.base.dtypes import DType
from edgec.base.errors import ConfigError
from edgec.base.options.front_end import FrontEndOptions
from edgec.base.samples import InputSpec, Normalize
from edgec.frontends.image import Camera, ImageFrontEnd
from edgec.frontends.parameters import image_parameters_of
from edgec.ir import qops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.pixels import pixel_codes
from edgec.ir.qparams import QuantParams
from edgec.kernels.generic.frame import Frame, overlap, reciprocal

SIDES = st.integers(1, 24)
RNG = np.random.default_rng(5)


def front_of(text: str, shape: tuple[int, ...] = (1, 6, 8, 3), **spec) -> ImageFrontEnd:
    p = image_parameters_of(FrontEndOptions.parse(text))
    return Camera(text, p).before(InputSpec("x", shape, **spec), takes_bytes=False)


def graph_of(op: qops.QFrame, codes) -> Graph:
    """A front end alone, from bytes to codes."""
    builder = GraphBuilder("frame")
    quant = QuantParams.per_tensor(1.0, 0, DType.INT8)
    x = builder.value(Value("frame", (1, op.form.frame_bytes), DType.INT8, quant))
    builder.inputs.append(x)
    table = builder.constant("codes", codes)
    dtype = DType.of(codes)
    quant = QuantParams.per_tensor(1.0, 0, dtype)
    y = builder.value(Value("y", (1, op.height, op.width, op.channels), dtype, quant))
    builder.node(y, op, qops.QFrame.Inputs(x, table), (y,))
    builder.outputs.append(y)
    return builder.build()


@st.composite
def forms(draw) -> CameraForm:
    height, width = draw(SIDES), draw(SIDES)
    tall, wide = draw(st.integers(1, height)), draw(st.integers(1, width))
    top, left = draw(st.integers(0, height - tall)), draw(st.integers(0, width - wide))
    pixels, order = (
        draw(st.sampled_from(list(BYTES_OF_PIXEL))),
        draw(st.sampled_from(["big", "little"])),
    )
    if pixels in YUV:
        width += width % 2
    return CameraForm(height, width, pixels, order, Rectangle(tall, wide, top, left))


@given(forms())
def test_a_frame_is_unpacked_as_it_was_packed(form: CameraForm):
    x = np.random.default_rng(form.height).integers(
        0, 256, (2, form.height, form.width, form.channels), np.uint8
    )
    frames = form.packed(x)
    assert frames.shape == (2, form.frame_bytes)
    c = form.crop
    found = form.unpacked(frames)
    wanted = x[:, c.top : c.top + c.height, c.left : c.left + c.width]
    if form.pixels == "rgb565":
        # The highest bits of 5, 6 and 5 are kept, and repeated below.
        lost = [
            (v >> (8 - b) << (8 - b)) | v >> (8 - b) >> (2 * b - 8)
            for v, b in zip(np.moveaxis(wanted, -1, 0), (5, 6, 5), strict=True)
        ]
        wanted = np.stack(lost, axis=-1)
    if form.pixels in YUV:
        # Two pixels side by side have the means of their U and V.
        whole = yuv_of(x).astype(int)
        pairs = whole[..., 1:].reshape(2, form.height, form.width // 2, 2, 2).sum(axis=3)
        whole[..., 1:] = ((pairs + 1) // 2).repeat(2, axis=2)
        wanted = whole[:, c.top : c.top + c.height, c.left : c.left + c.width]
    assert np.array_equal(found, wanted)


def test_bytes_of_pixels_lie_where_cameras_have_them():
    """Red, and then blue, of a row of two pixels."""
    x = np.array([[[200, 16, 0], [0, 16, 200]]], np.uint8)
    wanted = {
        "rgb888": [200, 16, 0, 0, 16, 200],
        "bgr888": [0, 16, 200, 200, 16, 0],
        "rgb565": [0xC8, 0x80, 0x00, 0x99],
    }
    for name, found in wanted.items():
        form = CameraForm(1, 2, name, "big", Rectangle(1, 2, 0, 0))
        assert form.packed(x).tolist() == found
    yuv = np.asarray(Image.fromarray(x).convert("YCbCr")).astype(int)[0]
    y, u, v = yuv[:, 0], yuv[:, 1].mean(), yuv[:, 2].mean()
    for name, near in {"yuyv": [y[0], u, y[1], v], "uyvy": [u, y[0], v, y[1]]}.items():
        form = CameraForm(1, 2, name, "big", Rectangle(1, 2, 0, 0))
        assert np.abs(form.packed(x) - np.array(near)).max() <= 1


def test_colours_of_yuv_are_those_of_jpeg():
    x = RNG.integers(0, 256, (40, 50, 3), np.uint8)
    found = rgb_of(x).astype(int)
    wanted = np.asarray(Image.fromarray(x, "YCbCr").convert("RGB")).astype(int)
    assert np.abs(found - wanted).max() <= 1
    y, u, v = np.moveaxis(x.astype(float), -1, 0)
    real = (y + 1.402 * (v - 128), y - 0.344136 * (u - 128) - 0.714136 * (v - 128))
    assert np.abs(found[..., :2] - np.clip(np.stack(real, -1), 0, 255)).max() < 0.51
    gray = np.arange(256, dtype=np.uint8)[:, None].repeat(3, axis=1)
    assert np.array_equal(rgb_of(yuv_of(gray)), gray)


def test_a_product_divides_sums_of_bytes():
    for count in (*range(1, 300), 625, 3600, 4096 * 2048):
        factor, shift = reciprocal(count)
        last = 255 * count + count // 2
        quotients = np.arange(256)
        n = np.stack([quotients * count, np.minimum(quotients * count + count - 1, last)])
        if factor:
            assert last * factor < 1 << 32
            assert np.array_equal(n * factor >> shift, n // count)
        assert factor or count > 256


@given(SIDES, SIDES, SIDES, SIDES)
def test_areas_are_exact_means(tall: int, wide: int, height: int, width: int):
    """Beside means of pixels that are repeated until both sizes divide them."""
    x = np.random.default_rng(tall).integers(0, 256, (tall, wide, 1), np.uint8)
    fine = x.astype(np.int64).repeat(height, axis=0).repeat(width, axis=1)
    sums = fine.reshape(height, tall, width, wide).sum(axis=(1, 3))
    wanted = (2 * sums + tall * wide) // (2 * tall * wide)
    assert np.array_equal(resized(x, height, width, "area")[..., 0], wanted)


def test_pillow_resizes_and_grays_alike():
    x = RNG.integers(0, 256, (24, 36, 3), np.uint8)
    image = Image.fromarray(x)
    assert np.array_equal(brightness(x)[..., 0], np.asarray(image.convert("L")))
    near = np.asarray(image.resize((9, 7), Image.Resampling.NEAREST))
    assert np.array_equal(resized(x, 7, 9, "nearest"), near)
    mean = np.asarray(image.resize((9, 8), Image.Resampling.BOX)).astype(int)
    assert np.abs(resized(x, 8, 9, "area") - mean).max() <= 1


@pytest.mark.parametrize(
    ("sides", "like", "wanted"),
    [
        ((240, 320), (96, 96), (240, 240, 0, 40)),
        ((240, 320), (48, 64), (240, 320, 0, 0)),
        ((96, 96), (1, 2), (48, 96, 24, 0)),
        ((3, 1), (1, 100), (1, 1, 1, 0)),
    ],
)
def test_the_part_in_the_middle(sides, like, wanted):
    assert middle(*sides, *like) == Rectangle(*wanted)


# Each example compiles a library; sizes that divide each other and ones that do not.
@settings(max_examples=12, deadline=None)
@given(
    forms(), st.integers(1, 20), st.integers(1, 20), st.sampled_from(["area", "nearest"]), st.data()
)
def test_c_gives_the_same_bits(tmp_path_factory, form, height, width, method, data):
    channels = data.draw(st.sampled_from([1, 3]))
    blue_first = channels == 3 and data.draw(st.booleans())
    rows = data.draw(st.sampled_from(sorted({1, channels})))
    kind = data.draw(st.sampled_from([np.int8, np.int16]))
    limits = np.iinfo(kind)
    codes = np.random.default_rng(7).integers(limits.min, limits.max + 1, (rows, 256)).astype(kind)
    op = qops.QFrame(form, height, width, channels, method, blue_first)
    graph = graph_of(op, codes)
    check_host(graph, tmp_path_factory.mktemp("frame"))


@settings(deadline=None)
@given(
    forms(),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(["area", "nearest"]),
    st.booleans(),
)
def test_the_image_may_lie_where_the_frame_was_read(form, height, width, method, gray):
    op = qops.QFrame(form, height, width, 1 if gray else 3, method)
    for dtype in (DType.INT8, DType.INT16):
        spec = Frame(op, dtype, 1)
        assert overlap(spec) == (surely_legal_distance(events_of(spec)), None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image:width=0", "width cannot be 0"),
        ("image:pixels=yuv422", "pixels cannot be yuv422"),
        ("image:pixels=yuyv,width=321", "width cannot be 321"),
        ("image:pixels=uyvy,order=little", "image:order: pixels of uyvy have none"),
        ("image:colours=grb", "colours cannot be grb"),
        ("image:order=middle", "order cannot be middle"),
        ("image:pixels=gray,order=little", "image:order: pixels of gray have none"),
        ("image:resize=cubic", "resize cannot be cubic"),
        ("image:crop=400x400", "crop cannot be 400x400"),
        ("image:crop=240x240+100+0", r"crop cannot be 240x240\+100\+0"),
        ("image:crop=0x10", "crop cannot be 0x10"),
        ("image:crop=big", "crop cannot be big"),
        ("image:width=4096,height=4096,crop=none", "crop cannot be none"),
        ("image:scale=1/0", "cannot read"),
        ("image:mean=a", "cannot read"),
        ("image:colour=red", "has no parameter 'colour'"),
    ],
)
def test_parameters_that_cannot_be(text: str, words: str):
    with pytest.raises(ConfigError, match=words):
        image_parameters_of(FrontEndOptions.parse(text))


@pytest.mark.parametrize(
    ("text", "shape", "words"),
    [
        ("image:scale=1,colours=bgr", (1, 6, 8, 1), "colours cannot be bgr"),
        ("image:scale=1", (1, 10), "takes no image"),
        ("image", (1, 6, 8, 3), "it is not said which numbers the model takes"),
        ("image:scale=1,mean=1+2", (1, 6, 8, 3), "mean has 2 numbers; the model has 3 channels"),
    ],
)
def test_models_that_take_other_images(text: str, shape: tuple[int, ...], words: str):
    with pytest.raises(ConfigError, match=words):
        front_of(text, shape)


def test_the_front_end_and_the_model_say_how_bytes_become_numbers():
    own = Normalize.parse("scale=1/255,mean=0.5,std=0.25")
    assert front_of("image", normalize=own).normalize == own
    said = front_of("image:scale=1/127.5,mean=1", normalize=own).normalize
    assert said == Normalize.parse("scale=1/127.5,mean=1")
    front = front_of("image:scale=1/255,mean=0.1+0.2+0.3,std=0.5+0.5+0.25,crop=none,resize=nearest")
    frames = RNG.integers(0, 256, (2, front.form.frame_bytes), np.uint8)
    pixels = front.form.unpacked(frames)[:, 20::40, 20::40]
    wanted = (pixels / 255 - (0.1, 0.2, 0.3)) / (0.5, 0.5, 0.25)
    assert np.allclose(front.images_of(frames), wanted, atol=1e-6)
    quant = QuantParams.per_tensor(0.02, 3, DType.INT8)
    tables = np.stack(pixel_codes(quant, front.normalize))
    assert np.array_equal(tables[2], quant.quantize((np.arange(256) / 255 - 0.3) / 0.25))


def test_images_of_another_size_fill_the_part_that_is_used():
    front = front_of("image:scale=1,width=12,height=8,crop=8x6+2+1,pixels=rgb888", (1, 6, 8, 3))
    x = RNG.integers(0, 256, (6, 8, 3), np.uint8)
    assert np.array_equal(front.images_of(front.form.of_image(x)[None])[0], x)
    larger = x.repeat(5, axis=0).repeat(5, axis=1)
    assert np.array_equal(front.images_of(front.form.of_image(larger)[None])[0], x)
    whole = front.form.unpacked(front.form.of_image(larger)[None])
    assert whole.shape == (1, 6, 8, 3)


@pytest.mark.parametrize("text", ["image:scale=0", "image:std=0", "image:scale=1,mean=1+2"])
def test_hints_of_normalization_are_in_the_form_that_is_read(text):
    with pytest.raises(ConfigError) as found:
        front_of(text)
    hint = str(found.value.hint)
    assert "mean=0.485+0.456+0.406" in hint
    front_of(f"image:{hint.rsplit(maxsplit=1)[-1]}")


def test_signs_and_exponents_of_normalization_do_not_part_numbers():
    said = front_of("image:scale=1e+2,mean=0.1+2e+1+0.3").normalize
    assert said == Normalize(100.0, (0.1, 20.0, 0.3))
