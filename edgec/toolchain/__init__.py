"""External programs: compilers, PlatformIO, upload tools, ELF sizes, and what of it is installed.

Owns every process edgec starts (`process`).
"""
