"""What several families share: windows, loops, packing, distances, argument structs."""
