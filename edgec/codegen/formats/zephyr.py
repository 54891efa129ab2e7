"""A module of Zephyr, with a sample."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
    name="zephyr",
    title="Zephyr module",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/zephyr/README.md.j2",
        "zephyr/module.yml": "formats/zephyr/module.yml.j2",
        "zephyr/CMakeLists.txt": "formats/zephyr/CMakeLists.txt.j2",
        "zephyr/Kconfig": "formats/zephyr/Kconfig.j2",
        "samples/run_once/CMakeLists.txt": "formats/zephyr/sample.txt.j2",
        "samples/run_once/prj.conf": "formats/zephyr/prj.conf.j2",
        "samples/run_once/sample.yaml": "formats/zephyr/sample.yaml.j2",
        "samples/run_once/src/main.c": "formats/main.c.j2",
    },
    next_step="name the folder in ZEPHYR_EXTRA_MODULES or in the manifest of west",
)
