"""Networks in which some tensors have int16 codes, the others int8: their integer operators."""
