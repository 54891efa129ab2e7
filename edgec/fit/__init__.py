"""`compile --fit`: the best build within limits of flash, RAM, time and accuracy.

`search` is the way from limits to a build, `references` what it builds first, `choice` the words of
a choice.  `prices` knows what each choice costs, `program` finds the best one in numbers.
"""
