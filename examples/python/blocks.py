"""How the Python examples spread n items over p processes: process s has those from begin(n, p, s)
up to, but without, begin(n, p, s + 1). The sizes differ by at most one."""


def begin(n, p, s):
    return n * s // p


def owner(n, p, items):
    """The process that has each of the items (an array, or a number)."""
    return (p * (items + 1) - 1) // n
