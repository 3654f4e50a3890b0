"""Tools of our own for a folder: read, list, glob, grep, edit, write and run.

An answer depends on the arguments and the folder alone, never on earlier calls: what was run ahead and what was not are
the same bytes. So nothing here remembers what was read; `edit` knows by the old text that it changes what was meant.
"""
