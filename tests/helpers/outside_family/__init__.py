"""A kernel family that lies outside of edgec, as `docs/contributing.md` describes one."""
