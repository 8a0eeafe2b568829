"""What the BUILD files of several rooms say alike."""

# What nearly everybody says its errors with.
STATUS = [
    "@debian//:absl_statusor",
    "@debian//:absl_strings",
]

# Who sees what the worker is made of.
WORKER = [
    "//tests:__subpackages__",
    "//worker:__subpackages__",
]

# Who sees what is below: the rooms on top, but runtime, which sees base alone.
ROOMS_ON_TOP = [
    "//client:__subpackages__",
    "//coordinator:__subpackages__",
] + WORKER

# Who sees what the coordinator is made of.
COORDINATOR = [
    "//coordinator:__subpackages__",
    "//tests:__subpackages__",
]
