"""From an operator to its integer operator by the rules of TensorFlow Lite Micro.

`rules` decides the form in which layers with weights and operators of one factor end;
`converters.TFLM_CONVERTERS` has the operators whose rule is another one than edgec's.
"""
