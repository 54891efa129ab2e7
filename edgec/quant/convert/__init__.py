"""From an operator between quantized tensors to its integer operator; nothing is chosen here.

One converter an operator (`linear`, `products`, `elementwise`, `move`), each of which takes a
`context.Conversion`; `conversion.CONVERTERS` is the table of them, which takes additions.
"""
