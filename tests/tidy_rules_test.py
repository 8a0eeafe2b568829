#!/usr/bin/env python3
"""Feeds tests/tidy a small bad tree for each rule, and a good tree full of near misses.

A last test sees to it that no rule is without a bad tree.
"""

import importlib.machinery
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
_LOADER = importlib.machinery.SourceFileLoader('tidy', os.path.join(HERE, 'tidy'))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader('tidy', _LOADER))
_LOADER.exec_module(tidy)

# Not written as one word: this file itself is checked for exceptions that excuse nothing.
EXCEPTION = 'ti' + 'dy: '

BODY = '  ++x;\n' * 70
LONG = 'a' * 101

# Rule: trees of {path: text}, each with the line at which the rule must fire, in the first file.
BAD = {
    'include-upward': [
        ({'base/a.cc': '#include "net/frame.h"\n'}, 1),
        ({'runtime/a.cc': '\n#include "worker/exchange.h"\n'}, 2),
        ({'worker/a.cc': '#include "runtime/outbox.h"\n'}, 1),
        ({'worker/a.cc': '#include "coordinator/barrier.h"\n'}, 1),
        ({'coordinator/a.cc': '#include "worker/exchange.h"\n'}, 1),
        ({'client/a.cc': '#include "coordinator/job_table.h"\n'}, 1),
        ({'client/a.cc': '#include "runtime/link/link.h"\n'}, 1),
        ({'client/bsprun.cc': '#include "worker/exchange.h"\n'}, 1),
        ({'net/a.cc': '#include "proto/job.pb.h"\n'}, 1),
        ({'proto/a.cc': '#include <base/ids.h>\n'}, 1),
        ({'examples/a.cc': '#include "base/ids.h"\n'}, 1),
    ],
    'include-path': [({'net/a.cc': '#include "frame.h"\n'}, 1)],
    'own-header-first': [({'net/a.cc': '#include <cstdio>\n\n#include "net/a.h"\n'}, 1)],
    'grpc-adapters': [({'worker/a.cc': '#include <grpcpp/server.h>\n'}, 1),
                      ({'worker/a.h': '#include "proto/job.grpc.pb.h"\n'}, 1)],
    'libbsp-alone': [
        ({'runtime/a.cc': '#include <vector>\n'}, 1),
        ({'runtime/a.cc': '#include <thread>\n'}, 1),
        ({'runtime/a.cc': '#include <iostream>\n'}, 1),
        ({'runtime/a.h': '#include "absl/status/status.h"\n'}, 1),
        ({'runtime/a.c': '#include <threads.h>\n'}, 1),
        ({'runtime/a.cc': 'void F() { pthread_create(&a, nullptr, B, nullptr); }\n'}, 1),
        ({'runtime/a.cc': '#include <boost/a.hpp>\n'}, 1),
        ({'runtime/a.cc': 'void F() { sigaction(2, &a, nullptr); }\n'}, 1),
        # What runtime brings in from base counts as well, and so does its .cc.
        ({'base/a.h': '#include <string>\n', 'runtime/b.cc': '#include "base/a.h"\n'}, 1),
        ({'base/a.cc': '#include <mutex>\n', 'base/a.h': '\n',
          'runtime/b.cc': '#include "base/a.h"\n'}, 1),
    ],
    'clock-outside-base': [
        ({'net/a.cc': 'auto t = std::chrono::steady_clock::now();\n'}, 1),
        ({'runtime/a.cc': 'void F() {\n  clock_gettime(CLOCK_MONOTONIC, &ts);\n}\n'}, 2),
        ({'worker/a.cc': 'long F() { return time(nullptr); }\n'}, 1),
        ({'worker/a.cc': 'long F() { return std::time(nullptr); }\n'}, 1),
        ({'client/a.cc': 'void F() { gettimeofday(&t, nullptr); }\n'}, 1),
        ({'client/a.cc': 'auto F() { return __rdtsc(); }\n'}, 1),
        ({'client/a.cc': 'auto F() { return absl::Now(); }\n'}, 1),
    ],
    'sleep': [({'net/a_test.cc': 'void F() { std::this_thread::sleep_for(1s); }\n'}, 1),
              ({'worker/a.cc': 'void F() {\n  usleep(5);\n}\n'}, 2),
              ({'worker/a.cc': 'void F() { ::sleep(5); }\n'}, 1)],
    'unread-directory': [
        ({'net/a.cc': 'void F() {\n  for (auto& a : fs::directory_iterator(path)) G(a);\n}\n'}, 2)],
    'function-length': [
        ({'net/a.cc': 'int f(int x) {\n' + BODY + '  return x;\n}\n'}, 1),
        ({'net/a.cc': 'namespace bspnow {\nclass A {\n public:\n  A() : a_{1}, b_{2} {\n' + BODY +
          '  }\n};\n}\n'}, 4),
        ({'net/a.c': 'struct a f(int x)\n{\n' + BODY + '}\n'}, 1),
        ({'tests/a.py': '\ndef f():\n' + '    pass\n' * 70}, 2),
        ({'tests/a.sh': 'f() {\n' + '  true\n' * 70 + '}\n'}, 1),
    ],
    'line-length': [({'net/a.cc': f'\n// {LONG}\n'}, 2), ({'tests/a.sh': f'# {LONG}\n'}, 1),
                    ({'net/BUILD.bazel': f'# {LONG}\n'}, 1)],
    'file-length': [({'net/a.cc': '//\n' * 401}, 1)],
    'tabs': [({'net/a.cc': 'namespace a {\n\tint f();\n}\n'}, 2)],
    'raw-close': [({'net/a.cc': 'void F(int fd) { close(fd); }\n'}, 1),
                  ({'net/a.cc': 'void F(int fd) {\n  ::munmap(a, 1);\n}\n'}, 2),
                  ({'base/a.cc': 'void F(int fd) { close(fd); }\nvoid G() { close(1); }\n'}, 2)],
    'new-delete': [({'net/a.cc': 'A* F() { return new A(); }\n'}, 1),
                   ({'net/a.cc': 'void F(A* a) {\n  delete a;\n}\n'}, 2),
                   ({'net/a.cc': 'void F(A* a) { delete[] a; }\n'}, 1)],
    'bool-parameter': [({'net/a.h': 'void F(int a, bool b);\n'}, 1),
                       ({'net/a.h': 'void F(int a,\n       const bool b = true, int c = 1);\n'}, 1),
                       ({'net/a.cc': 'A::A(bool b) {}\n'}, 1),
                       ({'net/a.h': 'void F(bool& b);\n'}, 1)],
    'mutable-global': [({'net/a.cc': 'int g = 0;\n'}, 1),
                       ({'net/a.cc': 'namespace {\nstatic std::vector<int> names;\n}\n'}, 2),
                       ({'net/a.cc': 'void F() {}\nthread_local A a{1};\n'}, 2),
                       ({'net/a.cc': 'constexpr int kA = 1;\nA* a;\n'}, 2)],
    'forbidden-word': [({'net/a.h': 'int my_rank();\n'}, 1),
                       ({'net/a.h': '\nint RoundOfSync();\n'}, 2),
                       ({'net/a.h': 'int kGenerations();\n'}, 1),
                       ({'net/a.h': 'struct SendWindow;\n'}, 1)],
    'file-name': [({'net/string_util.h': '\n'}, 1), ({'base/common.cc': '\n'}, 1),
                  ({'worker/helpers/a.cc': '\n'}, 1),
                  ({'worker/job_manager.cc': '\n'}, 1)],
    'shell-prologue': [({'tests/a.sh': '#!/usr/bin/env bash\ntrue\n'}, 1)],
    'syntax': [({'tests/a.py': 'x = 1\ndef f(:\n'}, 2)],
    'idle-exception': [({'net/a.cc': 'int f();  // ' + EXCEPTION + 'no need\n'}, 1)],
    'packages': [
        ({'net/BUILD.bazel': 'deps = [\n  "@debian//:b"]\n',
          'third_party/debian.BUILD': '# --- libb-dev: b\ncc_library(name = "b")\n',
          'deploy/install-deps': '#!/bin/bash\nset -euo pipefail\napt install libb\n'}, 2),
        ({'net/BUILD.bazel': 'deps = ["@debian//:c"]\n',
          'third_party/debian.BUILD': '# --- libb-dev: b\ncc_library(name = "b")\n',
          'deploy/install-deps': '#!/bin/bash\nset -euo pipefail\napt install libb-dev\n'}, 1)],
    'missing-path': [
        ({'net/a.cc': '// See net/gone.h.\n'}, 1),
        ({'net/a.cc': 'int a; /* As in\n * net/gone.h */\n'}, 2),
        ({'net/BUILD.bazel': '# As net/g*.h\n'}, 1),
        ({'tests/a.py': 'def f():\n    """As net/gone.h."""\n'}, 2),
        ({'tests/a.sh': '#!/bin/bash\nset -euo pipefail\ntrue # As net/gone\n'}, 3),
        ({'runtime/a.f90': 'integer a ! As net/gone.h\n'}, 1),
        ({'proto/a.proto': '// As net/gone.h\n'}, 1),
        ({'tests/a/README.md': 'As `net/gone.h`\n'}, 1),
        ({'docs/a.md': '\nSee [this](../net/gone.h).\n'}, 2)],
    'missing-heading': [
        ({'net/a.cc': '// See "Gone"\n// in docs/a.md.\n', 'docs/a.md': '# Here\n'}, 1),
        ({'docs/b.md': 'See [`a.md`](a.md), or `a.md`, "Gone".\n', 'docs/a.md': 'Gone\n'}, 1),
        ({'docs/a.md': '# Here\n[Gone](#gone), [here](a.md#here)\n'}, 2)],
    'clang-format': [({'net/a.cc': 'int  f( );\n', '.clang-format': 'BasedOnStyle: Google\n'}, 1)],
    'shellcheck': [({'tests/a.sh': '#!/bin/bash\nset -euo pipefail\nrm $1\n'}, 3),
                   ({'tests/sourced.sh': 'true\ncp $a b\n'}, 2)],
}

GOOD = {
    '.clang-format': 'BasedOnStyle: Google\nColumnLimit: 100\n',
    'base/clock.cc': 'long F() { return clock_gettime(0, nullptr); }\n',
    'base/unique_fd.cc': '#include <vector>\n\nvoid F(int fd) { close(fd); }\n',
    'worker/a.cc': '#include "worker/a.h"\n\n#include "net/frame.h"\n'
                   '#include "runtime/image/image_format.h"\n#include "runtime/link/link.h"\n'
                   '#include "runtime/link/link_segment.h"\n',
    'worker/a.h': '#include "base/ids.h"\n',
    'worker/job_stub.cc': '#include <grpcpp/channel.h>\n',
    'client/run/local_run.cc': '#include "coordinator/job_table.h"\n#include "worker/a.h"\n',
    'runtime/a.cc': '#include <errno.h>\n#include <sys/mman.h>\n\n#include <atomic>\n\n'
                    '#include "base/b.h"\n',
    'base/b.h': '#include <cstdint>\n',
    'runtime/a_test.cc': '#include <gtest/gtest.h>\n\n#include <vector>\n',
    'runtime/bsp_api.cc': 'Process process;  // ' + EXCEPTION + 'the one\n',
    # Comments and strings are no code, and words only resemble others.
    'net/near.cc': '// new delete close( time(0) rank steady_clock::now() munmap(\n'
                   '/* bool b, bool c)\n   new */\n'
                   'const char kText[] = "new time(0) close(1) // rank \\" delete";\n'
                   'const char kRaw[] = R"(new "delete" rank)";\n'
                   'constexpr int kLarge = 1\'000\'000;\n'
                   'extern int not_here;\n'
                   'struct A {\n'
                   '  A(const A&) = delete;\n'
                   '  bool runtime(int x) const { return (bool)x; }\n'
                   '  explicit operator bool() const;\n'
                   '};\n'
                   'int around_frank_background(const A& a) {\n'
                   '  if (bool ok = a.runtime(1); ok) return fclose(nullptr);\n'
                   '  for (bool done = false; !done;) done = a.time(1);\n'
                   '  return std::round(1.5) + RoundUp(1) + MPI_Comm_rank(0, 0);\n'
                   '}\n',
    'net/excused.cc': 'A* F() { return new (buffer) A(); }  // ' + EXCEPTION + 'in the arena\n',
    'net/long.cc': 'int f(int x) {\n' + '  ++x;\n' * 67 + '  return x;\n}\n',
    'examples/page.cc': 'double rank(double page_rank) { return page_rank; }\n',
    'tests/a.sh': '#!/usr/bin/env bash\nset -euo pipefail\nrm "$1"\n',
    'tests/sourced.sh': 'cd "$given"\n',
    'tests/a.py': 'new = "bool b"\nname = "net/gone.h"  # No comment names that.\n',
    'tests/b.py': '\n# See "Fencing"\n# in docs/design.md, and net/*.cc; https://a.b/net/gone.h.\n',
    'tests/b.sh': '#!/bin/bash\n# //net:gone, net/built, net/NAME\n'
                  'set -euo pipefail\nnet/gone "$@"\n',
    'net/BUILD.bazel': 'cc_binary(name = "built")\n',
    'docs/design.md': '## A heading\n\n**Fencing.** See [notes](../tests/notes.md#some-1), [the\n'
                      'web](https://a.b/gone.md), "A\nheading" in `design.md`, and net/near.\n',
    'tests/notes.md': LONG + '\trank\n\n### Some, (1)\n',
    'runtime/fortran/fbsp.h': '! ' + LONG + '\n',
}


def findings_of(tree):
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        return tidy.check(root)[0]


class TidyTest(unittest.TestCase):

    def test_each_rule_fires_where_it_must(self):
        for rule, trees in BAD.items():
            if rule in ('clang-format', 'shellcheck') and not shutil.which(rule):
                continue
            for tree, line in trees:
                with self.subTest(rule=rule, tree=tree):
                    places = [(f.path, f.line) for f in findings_of(tree) if f.rule == rule]
                    self.assertEqual(places, [(next(iter(tree)), line)])

    def test_good_tree_passes(self):
        self.assertEqual([str(finding) for finding in findings_of(GOOD)], [])

    def test_exception_needs_a_reason(self):
        tree = {'net/a.cc': 'A* F() { return new A(); }  // ' + EXCEPTION.strip() + '\n'}
        self.assertIn('new-delete', [finding.rule for finding in findings_of(tree)])

    def test_finding_names_place_rule_and_fix(self):
        finding = findings_of({'net/a.h': 'void F(bool b);\n'})[0]
        self.assertRegex(str(finding), r'^net/a\.h:1: \[bool-parameter\] .*`bool b`; .*enum class')

    def test_no_rule_is_without_a_bad_tree(self):
        rules = {'idle-exception'}
        for name in ('tidy_rules.py', 'tidy_layers.py', 'tidy_programs.py', 'tidy_docs.py'):
            with open(os.path.join(HERE, name), encoding='utf-8') as file:
                rules.update(re.findall(r"Finding\([^']*'([a-z-]+)'", file.read()))
        self.assertGreater(len(rules), 20)
        self.assertEqual(rules, set(BAD))


if __name__ == '__main__':
    unittest.main()
