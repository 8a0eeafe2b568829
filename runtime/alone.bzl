"""How everything that is part of libbsp is compiled."""

# It links into C programs with cc: no libstdc++, no exceptions, no run-time types.
ALONE = [
    "-fno-exceptions",
    "-fno-rtti",
]

# Who sees the memory and the files that processes share with their worker.
WORKER_AND_TESTS = [
    "//runtime:__subpackages__",
    "//tests:__subpackages__",
    "//worker:__subpackages__",
]
