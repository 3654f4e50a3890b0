"""Results run ahead in place of a built-in shell's own runs, put there by the client's hooks.

Only commands that do nothing but read files of the working folder are run ahead, and only where the client is known
to let each of them through: known settings and options and no others, no rules, no other hooks.

A hook is a program that starts for every call of the shell, some 0.1 s on a busy machine; gemini-cli starts two, and
four and a second shell for a result put in place. So this pays where commands take longer than that, a search
through a large tree, and costs where they do not.
"""
