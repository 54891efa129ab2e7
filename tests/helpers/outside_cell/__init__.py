"""An operator with two outputs and state, and its kernel family, both outside of edgec."""
