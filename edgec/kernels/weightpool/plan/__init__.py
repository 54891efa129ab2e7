"""The planner of layers with a weight pool: which kernel computes each of them on a board.

`candidates` lists what could compute a layer, `kernels.choice` says what a candidate costs, `plan`
makes the choice for a whole network, `widths` chooses the widths of activations too, and `reasons`
says why a choice was made.
"""
