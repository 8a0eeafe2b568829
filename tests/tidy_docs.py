"""The rules of tests/tidy on what comments and pages refer to: it must exist in this tree.

A path is a reference if it begins with a directory of ROOMS, and so is the target of a link in a
page; `files/NAME` stands for any file. A heading is referred to as `"Fencing" in docs/design.md` or
`docs/design.md, "Fencing"`.
"""

import glob
import os
import re

from tidy_source import MARKDOWN, Finding

ROOMS = ('base', 'client', 'coordinator', 'deploy', 'docs', 'examples', 'files', 'net', 'proto',
         'runtime', 'tests', 'third_party', 'worker')
_PATH = re.compile(rf'(?<![\w/.$}}>~@:-])(?:{"|".join(ROOMS)})/[\w.*/+-]*[\w*]')
_LINK = re.compile(r'\]\(([^)#\s:]+)(?:#[^)]*)?\)')
_ANCHOR = re.compile(r'\]\((?P<page>[^)#\s:]*)#(?P<heading>[^)\s]+)\)')
_PAGE = r'[`\[]*(?P<page>(?:[\w-]+/)*\w+\.md)'
_HEADING_FIRST = re.compile(rf'"(?P<heading>[^"]+)"\s+(?:in|of)\s+{_PAGE}')
_PAGE_FIRST = re.compile(rf'{_PAGE}[`\]]*,\s+"(?P<heading>[^"]+)"')


def _exists(root, path):
    """Whether there is such a file, perhaps with a suffix (`base/ids`), or such a Bazel target."""
    pattern = os.path.join(glob.escape(root), path)
    if glob.glob(pattern) or glob.glob(pattern + '.*'):
        return True
    build = os.path.join(root, os.path.dirname(path), 'BUILD.bazel')
    if not os.path.isfile(build):
        return False
    with open(build, encoding='utf-8') as file:
        return f'"{os.path.basename(path)}"' in file.read()


def _references(source):
    """(position, path from the root) of each reference to a file."""
    for match in _PATH.finditer(source.comments):
        if not re.search(r'/[A-Z]+$', match[0]):
            yield match.start(), match[0]
    if source.kind == MARKDOWN:
        for match in _LINK.finditer(source.comments):
            yield match.start(1), os.path.normpath(os.path.join(os.path.dirname(source.path),
                                                                match[1]))


def missing_path(root, documents):
    for source in documents:
        seen = set()  # A link whose text is the path refers to it twice.
        for position, path in _references(source):
            place = (source.comments.count('\n', 0, position) + 1, path)
            beside = os.path.join(os.path.dirname(source.path), path)
            if place not in seen and not (_exists(root, path) or _exists(root, beside)):
                yield Finding(source.path, place[0], 'missing-path', f'there is no {path}',
                              'name the file that took its place')
            seen.add(place)


def _headings(text):
    """Headings, and the bold words that begin a paragraph or an item."""
    found = re.findall(r'^#+ +(.*?) *$|^(?:[-*] |\d+\. )?\*\*(.+?)\*\*', text,
                       re.MULTILINE | re.DOTALL)
    return {re.sub(r'\s+', ' ', heading or bold).rstrip('.') for heading, bold in found}


def _anchor(heading):
    """What a link to a heading ends with."""
    return re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-')


def _cited_headings(source):
    """(match, heading as it is written) of each reference to a heading."""
    for pattern in (_HEADING_FIRST, _PAGE_FIRST, *([_ANCHOR] if source.kind == MARKDOWN else [])):
        for match in pattern.finditer(source.comments):
            yield match, re.sub(r'\s+', ' ', match['heading'])


def missing_heading(root, documents):
    del root
    by_path = {source.path: source for source in documents}
    for source in documents:
        for match, heading in _cited_headings(source):
            page = match['page'] or os.path.basename(source.path)
            beside = os.path.normpath(os.path.join(os.path.dirname(source.path), page))
            target = by_path.get(page) or by_path.get(beside)
            found = _headings(target.text) if target else ()
            if target and heading not in found and heading not in map(_anchor, found):
                line = source.comments.count('\n', 0, match.start()) + 1
                yield Finding(source.path, line, 'missing-heading',
                              f'{target.path} has no "{heading}"', 'name a heading that it has')


RULES = (missing_path, missing_heading)
