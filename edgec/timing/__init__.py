"""Cycle models of Cortex-M cores and of the memory in front of them; pure, no emulator."""
