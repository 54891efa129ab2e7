"""From an operator between quantized tensors to its integer operator; nothing is chosen here.

One converter an operator, in the module of its kind; `converters.CONVERTERS` has them all and takes
additions.  A converter gets a `context.Conversion`: `annotated` has that of annotated graphs,
`quant.transformer.searched` that of networks whose scales are searched.
"""
