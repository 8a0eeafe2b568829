"""The rules of tests/tidy that concern names, sizes and calls. Each yields Findings.

A rule is a function of one Source, listed in RULES. Rules about who may include whom are in
tidy_layers.py, those that other programs check in tidy_programs.py.
"""

import ast
import re

from tidy_source import (C, C_FAMILY, FORTRAN, PYTHON, SHELL, Finding, Function, functions,
                         namespace_statements)

COLUMNS_MAX = 100
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70

# Programs that a user could have written, or that measure: time is their own affair.
_OWN_TIME = ('base/', 'tests/bench/', 'tests/conformance/', 'tests/images/programs/',
             'tests/cluster/lines.c', 'tests/cluster/mixed.c', 'tests/cluster/partitioned.c',
             'examples/')


def _matches(source, pattern):
    """(line, match) for each match in the code, comments and strings left out."""
    for match in re.finditer(pattern, source.code, re.MULTILINE):
        yield source.line_of(match.start()), match


def line_length(source):
    for number, line in enumerate(source.lines, 1):
        if len(line) > COLUMNS_MAX:
            yield Finding(source.path, number, 'line-length',
                          f'{len(line)} columns', f'break it: at most {COLUMNS_MAX}')


def file_length(source):
    if len(source.lines) > FILE_LINES_MAX:
        yield Finding(source.path, 1, 'file-length', f'{len(source.lines)} lines',
                      f'one concern a file: split it, at most {FILE_LINES_MAX}')


def tabs(source):
    for number, line in enumerate(source.lines, 1):
        if '\t' in line:
            yield Finding(source.path, number, 'tabs', 'a tab', 'indent with spaces')


def _python_functions(source):
    try:
        tree = ast.parse(source.text)
    except SyntaxError:
        return  # The rule `syntax` says so.
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, node.end_lineno)


def _shell_functions(source):
    name, first = None, 0
    for number, line in enumerate(source.lines, 1):
        match = re.match(r'(?:function\s+)?([\w-]+)\s*\(\)\s*\{', line)
        if match and not line.rstrip().endswith('}'):
            name, first = match[1], number
        elif name and line.startswith('}'):
            yield Function(name, first, number)
            name = None


def function_length(source):
    if source.kind in C_FAMILY:
        found = functions(source)
    elif source.kind == PYTHON:
        found = _python_functions(source)
    elif source.kind == SHELL:
        found = _shell_functions(source)
    else:
        found = []
    for function in found:
        if function.lines > FUNCTION_LINES_MAX:
            yield Finding(source.path, function.first_line, 'function-length',
                          f'{function.name} has {function.lines} lines',
                          f'make it two: at most {FUNCTION_LINES_MAX}')


_CLOCK = (r'\b(?:clock_gettime|clock_getres|gettimeofday|ftime|timespec_get|__rdtscp?|_rdtsc|'
          r'__builtin_ia32_rdtscp?|__builtin_readcyclecounter)\b'
          r'|\b\w+_clock\s*::\s*now\b|\babsl\s*::\s*Now\s*\(|\brdtscp?\b'
          r'|(?<![\w.>:])(?:std\s*::\s*|::\s*)?(?:time|clock)\s*\(')


def clock_outside_base(source):
    if source.kind not in C_FAMILY or source.path.startswith(_OWN_TIME):
        return
    for line, match in _matches(source, _CLOCK):
        yield Finding(source.path, line, 'clock-outside-base',
                      f'reads a clock: {match[0].strip("( ")}',
                      'be handed the time, or ask base/clock.h')


def unread_directory(source):
    if source.kind not in C_FAMILY or re.search(r'(^|/)tests?(ing)?/|_test\.', source.path):
        return
    for line, match in _matches(source, r'\bfor\s*\([^;()]*:[^;()]*directory_iterator\s*\('):
        yield Finding(source.path, line, 'unread-directory', f'{match[0]}...',
                      'take base/directory_listing.h: this ends the program if the disk fails')


def sleep(source):
    if source.kind not in C_FAMILY or source.path.startswith(_OWN_TIME):
        return
    for line, match in _matches(source, r'\b(?:sleep_for|sleep_until|usleep|nanosleep|'
                                        r'clock_nanosleep)\s*\(|(?<![\w.>])sleep\s*\('):
        yield Finding(source.path, line, 'sleep', f'{match[0]}...)',
                      'wait for the event itself; tests inject time')


def raw_close(source):
    """close and munmap occur once each, in base. C programs have no destructors to do it."""
    if source.kind not in C_FAMILY or (source.kind == C and source.room in ('tests', 'examples')):
        return
    calls = list(_matches(source, r'(?<![\w.>])(?:::\s*)?(close|munmap)\s*\('))
    if source.room == 'base':
        calls = [call for call in calls
                 if call[1][1] in [earlier[1][1] for earlier in calls[:calls.index(call)]]]
    for line, match in calls:
        yield Finding(source.path, line, 'raw-close', f'calls {match[1]}',
                      'give it to a UniqueFd or MappedRegion, which do that in one place')


def new_delete(source):
    if source.kind not in C_FAMILY or source.kind == C:
        return
    for line, match in _matches(source, r'\b(new|delete)\b(?!\s*>)'):
        before = source.code[:match.start()].rstrip()
        if before.endswith('=') and match[1] == 'delete':
            continue
        yield Finding(source.path, line, 'new-delete', f'`{match[1]}`',
                      'own it by std::unique_ptr (std::make_unique) or as a member')


_KEYWORD_BEFORE = re.compile(r'\b(?:if|while|for|switch|sizeof|decltype)\s*(?:constexpr\s*)?$')
_BOOL_PARAMETER = (r'[(,]\s*(?:const\s+)?(?:bool|_Bool)(?:\s*[&*]+\s*|\s+)'
                   r'(\w+)\s*(?=[,)]|=[^=;]*[,)])')


def bool_parameter(source):
    if source.kind not in C_FAMILY:
        return
    for line, match in _matches(source, _BOOL_PARAMETER):
        if not _KEYWORD_BEFORE.search(source.code[:match.start()]):
            yield Finding(source.path, line, 'bool-parameter', f'parameter `bool {match[1]}`',
                          'a call should explain itself: take an enum class')


_VARIABLE = re.compile(
    r'(?P<lead>(?:(?:static|inline|constinit|thread_local|extern|alignas\s*\([^)]*\)|"[^"]*"|'
    r'\[\[[^\]]*\]\])\s*)*)'
    r'(?!(?:using|typedef|struct|class|enum|union|template|friend|static_assert|namespace|'
    r'const|constexpr|return)\b)'
    r'[A-Za-z_][\w:]*(?:<[^;]*>)?(?:\s*[*&]+\s*|\s+)(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*'
    r'(?P<value>=.*|\{.*)?$', re.DOTALL)


def mutable_global(source):
    """bsp_api.cc's one process says why on its line: BSPlib's calls have no argument for it."""
    if source.kind not in C_FAMILY or source.room in ('tests', 'examples', ''):
        return
    for line, text in namespace_statements(source):
        match = _VARIABLE.match(text)
        if match and (match['value'] or 'extern' not in match['lead']):
            yield Finding(source.path, line, 'mutable-global', f'global `{match["name"]}`',
                          'hand it in by constructor, or make it constexpr')


# Each means something else than the literature's word for the same thing (style, section 3).
_FORBIDDEN_WORDS = {'rank': 'pid', 'round': 'superstep', 'generation': 'epoch', 'window': 'slot'}
# Arithmetic is another concept: std::round and its like, rounding up and down.
_ROUNDING = re.compile(r'^(?:l?l?round[fl]?|[Rr]ound_?(?:[Uu]p|[Dd]own)\w*)$')


def _words(identifier):
    return [word.lower() for word in
            re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+', identifier)]


def _may_say_rank(source):
    """The pages' ranks that PageRank computes, and MPI's own word in programs written in MPI."""
    return source.room == 'examples' or source.name.startswith('mpi_')


def forbidden_word(source):
    if source.kind not in C_FAMILY:
        return
    for line, match in _matches(source, r'\b[A-Za-z_]\w*\b'):
        name = match[0]
        if name.startswith('MPI_') or source.code_lines[line - 1].lstrip().startswith('#include'):
            continue
        if _ROUNDING.match(name) and source.code[match.end():].lstrip().startswith('('):
            continue
        for word in _words(name):
            if word.rstrip('s') == 'rank' and _may_say_rank(source):
                continue
            instead = _FORBIDDEN_WORDS.get(word.rstrip('s'))
            if instead:
                yield Finding(source.path, line, 'forbidden-word', f'`{name}` says "{word}"',
                              f'use the literature\'s word ({instead}), or say what it is')


_FORBIDDEN_NAMES = ('util', 'utils', 'common', 'manager', 'helper', 'helpers', 'misc')


def file_name(source):
    for word in _FORBIDDEN_NAMES:
        if word in re.split(r'[/_.-]', source.path.lower()):
            yield Finding(source.path, 1, 'file-name', f'named "{word}"',
                          'name the one concern, by a noun')


def shell_prologue(source):
    """What is sourced (no #!) takes the options of who sources it."""
    if source.kind != SHELL or not source.lines or not source.lines[0].startswith('#!'):
        return
    if not re.search(r'^set -euo pipefail$', source.text, re.MULTILINE):
        yield Finding(source.path, 1, 'shell-prologue', 'runs on after an error',
                      'add `set -euo pipefail`')


def syntax(source):
    if source.kind != PYTHON:
        return
    try:
        ast.parse(source.text)
    except SyntaxError as error:
        yield Finding(source.path, error.lineno or 1, 'syntax', f'no Python: {error.msg}',
                      'mend it')


def _for_code(rule):
    """Fortran's fixed form has its own columns, and compilers check it."""
    return lambda source: rule(source) if source.kind != FORTRAN else ()


RULES = (_for_code(line_length), file_length, tabs, function_length, clock_outside_base, sleep,
         unread_directory, raw_close, new_delete, bool_parameter, mutable_global, forbidden_word,
         file_name, shell_prologue, syntax)
