"""The rules of tests/tidy that other programs check, or that compare files with each other."""

import re
import shutil
import subprocess

from tidy_source import BUILD, C_FAMILY, SHELL, Finding

# These have comments of their own for exceptions: `clang-format off`, `shellcheck disable`.
OWN_EXCEPTIONS = ('clang-format', 'shellcheck')

# Other versions lay out the same style differently.
CLANG_FORMAT_VERSION = '14'


def _clang_format():
    for name in (f'clang-format-{CLANG_FORMAT_VERSION}', 'clang-format'):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, '--version'], capture_output=True, text=True)
            if f'version {CLANG_FORMAT_VERSION}.' in version.stdout:
                return program
    return None


def clang_format(root, sources):
    paths = [source.path for source in sources if source.kind in C_FAMILY]
    program = _clang_format()
    if not paths or not program:
        return
    output = subprocess.run([program, '--dry-run', '--style=file', '--fallback-style=none',
                             *paths], cwd=root,
                            capture_output=True, text=True).stderr
    seen = set()
    for match in re.finditer(r'^(\S+?):(\d+):\d+: (?:warning|error): (.*)$', output, re.MULTILINE):
        path, line = match[1], int(match[2])
        if path not in seen:  # The first place tells; the rest is seen when it is formatted.
            seen.add(path)
            yield Finding(path, line, 'clang-format', 'is laid out differently',
                          f'run `clang-format -i {path}`')


# A file that is sourced shares its variables and its `set -e` with who sources it.
_SOURCED = ('--shell=bash', '--exclude=SC2034,SC2154,SC2164')


def shellcheck(root, sources):
    scripts, sourced = [], []
    for source in sources:
        if source.kind == SHELL:
            (scripts if source.text.startswith('#!') else sourced).append(source.path)
    if not shutil.which('shellcheck'):
        return
    for options, paths in ((('--external-sources',), scripts), (_SOURCED, sourced)):
        if not paths:
            continue
        output = subprocess.run(['shellcheck', '--format=gcc', *options, *paths], cwd=root,
                                capture_output=True, text=True).stdout
        for match in re.finditer(r'^(.+?):(\d+):\d+: \w+: (.*)$', output, re.MULTILINE):
            yield Finding(match[1], int(match[2]), 'shellcheck', match[3].rstrip('.'),
                          'see the ShellCheck wiki page of that number')


def missing_programs():
    """What cannot be checked here."""
    missing = [] if _clang_format() else [f'clang-format {CLANG_FORMAT_VERSION}']
    return missing + ([] if shutil.which('shellcheck') else ['shellcheck'])


def packages_are_installed(root, sources):
    """Each @debian target in use comes from a package that deploy/install-deps installs."""
    del root
    by_path = {source.path: source for source in sources}
    packages = by_path.get('third_party/debian.BUILD')
    installer = by_path.get('deploy/install-deps')
    if not packages or not installer:
        return
    package_of, package = {}, None
    for line in packages.lines:
        heading = re.match(r'# --- (\S+):', line)
        package = heading[1] if heading else package
        target = re.match(r'\s*name = "([^"]+)"|cc_library\(name = "([^"]+)"\)', line)
        if target:
            package_of[target[1] or target[2]] = package
    for source in sources:
        if source.kind != BUILD or source is packages:
            continue
        for number, line in enumerate(source.lines, 1):
            for name in re.findall(r'"@debian//:([^"]+)"', line):
                package = package_of.get(name)
                if not package:
                    yield Finding(source.path, number, 'packages', f'no target @debian//:{name}',
                                  'add it to third_party/debian.BUILD')
                elif not re.search(rf'(?<![\w+-]){re.escape(package)}(?![\w+-])', installer.text):
                    yield Finding(source.path, number, 'packages',
                                  f'@debian//:{name} comes from {package}',
                                  'list that package in deploy/install-deps')


RULES = (clang_format, shellcheck, packages_are_installed)
