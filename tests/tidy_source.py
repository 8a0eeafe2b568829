"""Source files as the rules of tests/tidy see them: found, classified, comments set apart."""

import dataclasses
import functools
import io
import os
import re
import tokenize

CPP, C, HEADER, SHELL, PYTHON, BUILD, FORTRAN = ('cpp', 'c', 'header', 'shell', 'python', 'build',
                                                 'fortran')
C_FAMILY = (CPP, C, HEADER)
# Pages, and the definitions of messages: only what they refer to is checked.
MARKDOWN, PROTO = 'markdown', 'proto'
_PAGE_BY_SUFFIX = {'.md': MARKDOWN, '.proto': PROTO}

_KIND_BY_SUFFIX = {
    '.cc': CPP, '.cpp': CPP, '.cxx': CPP, '.c': C, '.h': HEADER, '.hpp': HEADER, '.sh': SHELL,
    '.bash': SHELL, '.py': PYTHON, '.bzl': BUILD, '.bazel': BUILD, '.BUILD': BUILD,
    '.f': FORTRAN, '.f90': FORTRAN,
}
# What a Fortran program includes.
_KIND_BY_NAME = {'WORKSPACE': BUILD, 'BUILD': BUILD, 'fbsp.h': FORTRAN,
                 'fbsp_level1.h': FORTRAN}

# An exception stands on the line that it excuses: `// tidy: <reason>`.
_EXCEPTION = re.compile(r'(?://|/\*|#|!|<!--)\s*tidy:\s*\w')


@dataclasses.dataclass
class Finding:
    path: str
    line: int
    rule: str
    what: str
    fix: str

    def __str__(self):
        return f'{self.path}:{self.line}: [{self.rule}] {self.what}; {self.fix}'


@dataclasses.dataclass
class Function:
    name: str
    first_line: int
    last_line: int

    @property
    def lines(self):
        return self.last_line - self.first_line + 1


class Source:
    """One file. Lines count from 1; `code` is `text` with comments and strings blanked out."""

    def __init__(self, root, path, kind):
        self.path = path
        self.kind = kind
        self.room = path.split('/')[0] if '/' in path else ''
        self.name = os.path.basename(path)
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
            self.text = file.read()
        self.lines = self.text.split('\n')
        if self.lines and self.lines[-1] == '':
            self.lines.pop()
        self.code = blank_comments_and_strings(self.text) if kind in C_FAMILY else self.text
        self.code_lines = self.code.split('\n')

    @functools.cached_property
    def comments(self):
        """`text` with all but the comments blanked out; all of a page is comment."""
        return self.text if self.kind == MARKDOWN else only_comments(self.text, self.kind)

    @property
    def is_test(self):
        return (self.room == 'tests' or '/testing/' in self.path or
                re.search(r'_test\.\w+$', self.name) is not None)

    def excused(self, line):
        return 1 <= line <= len(self.lines) and bool(_EXCEPTION.search(self.lines[line - 1]))

    def exceptions(self):
        """Lines that carry an exception."""
        return [n for n in range(1, len(self.lines) + 1) if self.excused(n)]

    def includes(self):
        """(line, name as written between the quotes or brackets, '"' or '<') of each #include."""
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if match:
                yield number, match[2], match[1]

    def line_of(self, position):
        return self.code.count('\n', 0, position) + 1


def kind_of(root, path):
    """What language the file is in, or None if the rules do not look at it."""
    name = os.path.basename(path)
    if name in _KIND_BY_NAME:
        return _KIND_BY_NAME[name]
    suffix = os.path.splitext(name)[1]
    if suffix:
        return _KIND_BY_SUFFIX.get(suffix)
    with open(os.path.join(root, path), 'rb') as file:
        first = file.readline(200)
    if re.match(rb'#!.*\b(bash|sh)\b', first):
        return SHELL
    if re.match(rb'#!.*\bpython3?\b', first):
        return PYTHON
    return None


def find_sources(root):
    """The source files under root, and the pages. Links, as bazel-bin is, are not followed."""
    sources, pages = [], []
    for directory, directories, files in os.walk(root):
        directories[:] = sorted(d for d in directories if d == '.ci' or
                                not d.startswith(('.', '__pycache__', 'node_modules')))
        for name in sorted(files):
            full = os.path.join(directory, name)
            if os.path.islink(full) or not os.path.isfile(full):
                continue
            path = os.path.relpath(full, root)
            kind = kind_of(root, path)
            page = _PAGE_BY_SUFFIX.get(os.path.splitext(name)[1])
            if kind:
                sources.append(Source(root, path, kind))
            elif page:
                pages.append(Source(root, path, page))
    return sources, pages


_TOKEN = re.compile(
    r'''//(?:\\\n|[^\n])*                                     # line comment, continued ones too
      | /\*.*?(?:\*/|\Z)                                     # block comment
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)  # raw string
      | "(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)                    # string
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'                  # character, but not 1'000
    ''', re.DOTALL | re.VERBOSE)


def blank_comments_and_strings(text):
    """Spaces in place of comments and of what is inside quotes; every line keeps its length."""
    def blank(match):
        token = match[0]
        if token[0] in '"\'' and len(token) > 1:
            return token[0] + re.sub(r'[^\n]', ' ', token[1:-1]) + token[-1]
        return re.sub(r'[^\n]', ' ', token)
    # The name of a quoted include is no string.
    includes = {m.start(): m.end() for m in re.finditer(r'^\s*#\s*include[^\n]*', text, re.M)}
    pieces, position = [], 0
    for start, end in includes.items():
        if start < position:
            continue
        pieces += [_TOKEN.sub(blank, text[position:start]), text[start:end]]
        position = end
    pieces.append(_TOKEN.sub(blank, text[position:]))
    return ''.join(pieces)


def _python_comments(text):
    """(start, end) of comments and docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    before = tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            docstring = token.type == tokenize.STRING and before != tokenize.OP
            if token.type == tokenize.COMMENT or docstring:
                yield (starts[token.start[0] - 1] + token.start[1],
                       starts[token.end[0] - 1] + token.end[1])
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                is_layout = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
                before = tokenize.NEWLINE if is_layout else tokenize.OP
    except (tokenize.TokenError, SyntaxError):
        return  # The rule `syntax` says so.


_HASH_COMMENT = re.compile(r'(?:^|(?<=\s))#[^\n]*', re.MULTILINE)
_FORTRAN_COMMENT = re.compile(r'^[cC*!][^\n]*|![^\n]*', re.MULTILINE)
# Where a line begins within a comment. As long as they are, blanks take their place.
_COMMENT_SIGN = re.compile(r'^[ \t]*(?:///?<?|/\*+|\*+/?|#+|!|[cC](?=[ \t]))', re.MULTILINE)


def only_comments(text, kind):
    """Blanks in place of all that is no comment, and of the signs with which comments begin; every
    line keeps its length."""
    if kind == PYTHON:
        places = list(_python_comments(text))
    elif kind in (SHELL, BUILD):
        places = [match.span() for match in _HASH_COMMENT.finditer(text)]
    elif kind == FORTRAN:
        places = [match.span() for match in _FORTRAN_COMMENT.finditer(text)]
    else:
        places = [match.span() for match in _TOKEN.finditer(text)
                  if match[0].startswith(('//', '/*'))]
    def blank(piece):
        return re.sub(r'[^\n]', ' ', piece)
    pieces, position = [], 0
    for start, end in places:
        comment = _COMMENT_SIGN.sub(lambda sign: blank(sign[0]), text[start:end])
        pieces += [blank(text[position:start]), comment]
        position = end
    return ''.join(pieces) + blank(text[position:])


def _blank_directives(code):
    """Without preprocessor lines, and with the first branch of each #if only: braces balance."""
    lines, depth_of_else, depth, continued = [], None, 0, False
    for line in code.split('\n'):
        directive = continued or line.lstrip().startswith('#')
        if directive and not continued:
            word = re.match(r'\s*#\s*(\w*)', line)[1]
            if word.startswith('if'):
                depth += 1
            elif word in ('else', 'elif') and depth_of_else is None:
                depth_of_else = depth
            elif word == 'endif':
                if depth_of_else == depth:
                    depth_of_else = None
                depth -= 1
        continued = directive and line.endswith('\\')
        lines.append('' if directive or depth_of_else is not None else line)
    return '\n'.join(lines)


# What opens a brace that holds declarations, not statements.
_SCOPE = re.compile(r'^\s*(?:template\s*<.*>\s*)?(?:inline\s+)?(?:typedef\s+)?'
                    r'(?:namespace|class|struct|union|enum|extern)\b(?!.*\)\s*(?:const|noexcept|'
                    r'override|final|\s)*$)', re.DOTALL)
_INITIALISER = re.compile(r'[^=!<>]=\s*$')


def functions(source):
    """The functions of a C or C++ file, found by their braces, from the first line of the head."""
    code = _blank_directives(source.code)
    found, stack, head_start, inside = [], [], 0, None
    for match in re.finditer(r'[{};]', code):
        position, token = match.start(), match[0]
        if token == '{':
            head = code[head_start:position]
            is_function = (inside is None and not _SCOPE.match(head.strip()) and
                           not _INITIALISER.search(head))
            stack.append(is_function)
            if is_function:
                lead = re.match(r'(?:\s|(?:public|private|protected)\s*:)*', head).end()
                inside = (len(stack), head_start + lead, head)
        elif token == '}' and stack:
            if inside is not None and len(stack) == inside[0]:
                name = re.search(r'([\w:~]+|operator\s*\S+?)\s*\(', inside[2])
                found.append(Function(name[1] if name else 'a block',
                                      code.count('\n', 0, inside[1]) + 1,
                                      code.count('\n', 0, position) + 1))
                inside = None
            stack.pop()
        head_start = position + 1
    return found


_NAMESPACE = re.compile(r'\s*(?:(?:inline\s+)?namespace\b[\w\s:]*|extern\s*"[^"]*"\s*)$')


def namespace_statements(source):
    """(line, text) of each statement outside all functions and classes; bodies are in the text."""
    code = _blank_directives(source.code)
    start, namespaces, depth, head = 0, 0, 0, ''
    for match in re.finditer(r'[{};]', code):
        position, token = match.start(), match[0]
        if token == '{':
            if depth == 0:
                head = code[start:position]
            if depth == 0 and _NAMESPACE.match(head):
                namespaces, start = namespaces + 1, position + 1
            else:
                depth += 1
        elif token == '}':
            if depth == 0:
                namespaces, start = namespaces - 1, position + 1
            else:
                depth -= 1
                if depth == 0 and re.search(r'\)[\s\w]*$', head) and '=' not in head:
                    start = position + 1  # The body of a function, which no semicolon ends.
        elif depth == 0:
            text = code[start:position].strip()
            yield code.count('\n', 0, position - len(code[start:position].lstrip())) + 1, text
            start = position + 1
