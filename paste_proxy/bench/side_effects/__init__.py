"""Whether anything that is run ahead has an effect: mixed traffic, and guesses that want nothing but effects."""
