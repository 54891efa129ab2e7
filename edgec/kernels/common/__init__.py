"""Parts that kernel families share: windows, loops, packing, distances, argument structs."""
