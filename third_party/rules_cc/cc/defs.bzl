"""The C++ rules that Bazel 4.2 has built in, under the names that rules_cc gives them.

Bazel's own tools load them from @rules_cc. Debian's bazel-rules-cc is made for another Bazel, and
the built-in rules need nothing around them, so this repository only hands them on.
"""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_profile = native.fdo_profile
objc_library = native.objc_library
