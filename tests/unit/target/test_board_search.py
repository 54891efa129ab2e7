"""Boards by what people type, and an answer for chips that edgec builds no firmware for."""

from __future__ import annotations

import pytest

from edgec.base.errors import ConfigError
from edgec.target.board import list_boards, load_board
from edgec.target.board_search import boards_like


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("f446", "nucleo_f446re"),
        ("stm32f446", "nucleo_f446re"),
        ("STM32F446RETx", "nucleo_f446re"),
        ("NUCLEO-F446RE", "nucleo_f446re"),
        ("arduino nano 33", "arduino_nano33ble"),
        ("Arduino Nano 33 BLE Sense", "arduino_nano33ble"),
        ("nrf52840", "arduino_nano33ble"),
        ("teensy", "teensy41"),
        ("RP2040", "rpi_pico"),
        ("nucleo", "nucleo_f446re"),  # an alias, though many hold it
    ],
)
def test_what_people_type(text: str, name: str) -> None:
    assert load_board(text).name == name


def test_every_board_is_found_by_its_own_words() -> None:
    for board in list_boards():
        for text in (board.name, *board.aliases, board.title, board.mcu):
            assert board in (load_board(board.name), *boards_like(text, list_boards()))


@pytest.mark.parametrize("text", ["st", "raspberry pi", "stm32"])
def test_several_boards_are_named(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(text)
    assert "is the name of" in caught.value.what
    assert load_board(caught.value.hint.split(",")[0])


@pytest.mark.parametrize(
    ("text", "form"),
    [("esp32", "idf"), ("ESP32-S3", "idf"), ("arduino uno", "arduino"), ("risc-v", "cmake")],
)
def test_other_processors_get_the_library(text: str, form: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(text)
    assert f"edgec export DIR --as {form}" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("stm32f103c8", "nucleo_f103rb"),
        ("blue pill", "nucleo_f103rb"),
        ("Nucleo-F401RE", "nucleo_f446re"),
        ("black_pill", "nucleo_f446re"),
        ("nucleo_h745zi", "nucleo_h743zi2"),
        ("stm32wb5m", "nucleo_wb55rg"),
        ("microbit_v2", "arduino_nano33ble"),
        ("nRF52833", "arduino_nano33ble"),
        ("pico w", "rpi_pico"),
        ("pico 2 w", "rpi_pico2"),
        ("teensy 4.0", "teensy41"),
    ],
)
def test_another_chip_of_a_family_is_a_file_away(text: str, like: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(text)
    assert f"edgec boards new NAME --like {like}" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "meant"), [("nucleo_f447re", "nucleo_f446re"), ("rpi_picoo", "rpi_pico")]
)
def test_a_slip_of_the_keyboard_is_told_first(text: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(text)
    assert caught.value.hint.startswith(f"did you mean {meant}")


@pytest.mark.parametrize("text", ["stm32n6", "nucleo_n657", "samd51", "portenta"])
def test_a_family_that_is_not_there(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(text)
    assert "--like nucleo" not in caught.value.hint
    assert "edgec boards new NAME" in caught.value.hint


def test_too_little_is_no_board() -> None:
    assert boards_like("f4", list_boards()) == []
