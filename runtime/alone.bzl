"""How everything that is part of libbsp is compiled."""

# It links into C programs with cc: no libstdc++, no exceptions, no run-time types. And a call that
# writes a word does not also save the frame pointer, which Bazel would keep.
ALONE = [
    "-fno-exceptions",
    "-fomit-frame-pointer",
    "-fno-rtti",
]

# Who sees the memory and the files that processes share with their worker.
WORKER_AND_TESTS = [
    "//runtime:__subpackages__",
    "//tests:__subpackages__",
    "//worker:__subpackages__",
]
