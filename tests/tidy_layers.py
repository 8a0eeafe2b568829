"""The rules of tests/tidy on who may include whom (docs/design.md, "Parts").

Bazel's visibility says the same of targets; here it is said of every #include.
"""

import re

from tidy_source import C_FAMILY, HEADER, Finding

# Room: the rooms that it may include from, besides itself.
EDGES = {
    'base': (), 'proto': (), 'net': ('base',), 'runtime': ('base',), 'files': ('proto', 'base'),
    'client': ('files', 'net', 'proto', 'base'),
    'coordinator': ('files', 'net', 'proto', 'base'),
    'worker': ('files', 'net', 'proto', 'base'),
}


def _allowed(source, target):
    room = target.split('/')[0]
    if room == source.room or room in EDGES[source.room]:
        return True
    lanes = r'lane(_barrier|_completion|_frame|_pieces)?'
    shared = (rf'runtime/(link/(link(_segment)?|bulk_plan|{lanes}|superstep_profile)'
              r'|image/image_format)\.h')
    if source.room == 'worker' and re.match(shared, target):
        return True  # The layout of the memory and of the files that it shares with processes.
    # bsprun's embedded coordinator and worker are put together in one place.
    return source.path.startswith('client/run/local_run.') and room in ('coordinator', 'worker')


def layers(source):
    if source.kind not in C_FAMILY or source.room not in EDGES:
        return
    for line, name, quote in source.includes():
        room = name.split('/')[0]
        if quote == '"' and room not in EDGES:
            yield Finding(source.path, line, 'include-path', f'"{name}" has no room',
                          f'write the path from the root: "{source.room}/..."')
        elif room in EDGES and '/' in name and not _allowed(source, name):
            allowed = ', '.join(EDGES[source.room]) or 'no other room'
            yield Finding(source.path, line, 'include-upward',
                          f'{source.room} includes {room}',
                          f'{source.room} may see {allowed}; move the code, or hand it in')


def examples_see_bsp_h_only(source):
    """An example is what a user would write: it knows bsp.h, as installed, and itself."""
    if source.kind not in C_FAMILY or source.room != 'examples':
        return
    for line, name, _ in source.includes():
        if name.split('/')[0] in EDGES and name != 'runtime/bsp.h':
            yield Finding(source.path, line, 'include-upward', f'an example includes {name}',
                          'examples see bsp.h alone')


def own_header_first(source):
    """So each header is compiled once with nothing before it, and must stand by itself."""
    if source.kind not in C_FAMILY or source.kind == HEADER or source.room not in EDGES:
        return
    own = re.sub(r'\.\w+$', '.h', source.path)
    includes = list(source.includes())
    if own in [name for _, name, _ in includes] and includes[0][1] != own:
        yield Finding(source.path, includes[0][0], 'own-header-first',
                      f'includes {includes[0][1]} before "{own}"', 'include it first')


def grpc_in_adapters_only(source):
    if source.kind not in C_FAMILY or re.search(r'_(?:service|stub)\.cc$', source.path):
        return
    for line, name, _ in source.includes():
        if name.startswith(('grpc/', 'grpcpp/', 'grpc++/')) or name.endswith('.grpc.pb.h'):
            yield Finding(source.path, line, 'grpc-adapters', f'includes {name}',
                          'only *_service.cc and *_stub.cc know gRPC')


RULES = (layers, examples_see_bsp_h_only, own_header_first, grpc_in_adapters_only)

# libbsp must link into a C program with cc, without libstdc++ or any other library: these C++
# headers need none of it for what is used here.
_HEADERS_WITHOUT_LIBRARY = frozenset(
    'algorithm array atomic bit cassert cerrno cinttypes climits compare concepts cstdarg cstddef '
    'cstdint cstdio cstdlib cstring initializer_list iterator limits new numeric ratio span tuple '
    'type_traits utility version'.split())
# Headers of libraries beside libc that end in .h too, and those of threads, of which libbsp has
# none inside the user's process. <pthread.h> is one of libc's; what it has is allowed by name.
_LIBRARY_HEADERS = re.compile(
    r'^(?:absl|google|grpc|grpcpp|grpc\+\+|prometheus|nlohmann|CLI|spdlog|fmt|gtest|gmock|isa-l|'
    r'elfutils|openssl|bits|c\+\+)/|^(?:threads|archive|archive_entry|xxhash|zstd|lz4|zlib|'
    r'sqlite3|libelf)\.h$')
# Compiled into programs, and not into libbsp.
_BINDINGS = ('runtime/cxx/', 'runtime/python/')
# A fork is seen by pthread_atfork at no cost in each call; it is neither a thread nor a handler.
_THREADS_AND_SIGNALS = r'\b(?:pthread_(?!atfork\b)\w+|thrd_create|sigaction|sigset|signal)\s*\('


def _part_of_libbsp(sources):
    """runtime, and what it includes of base; a base header brings its own .cc along."""
    by_path = {source.path: source for source in sources}
    waiting = [source.path for source in sources
               if source.room == 'runtime' and source.kind in C_FAMILY and not source.is_test and
               not source.path.startswith(_BINDINGS)]
    reached = set()
    while waiting:
        path = waiting.pop()
        if path in reached or path not in by_path:
            continue
        reached.add(path)
        waiting += [name for _, name, _ in by_path[path].includes()]
        waiting += [re.sub(r'\.h$', suffix, path) for suffix in ('.cc', '.c')]
    return [by_path[path] for path in sorted(reached)]


def libbsp_is_alone(sources):
    for source in _part_of_libbsp(sources):
        for line, name, quote in source.includes():
            unknown = quote == '<' and '.' not in name and name not in _HEADERS_WITHOUT_LIBRARY
            if unknown or _LIBRARY_HEADERS.match(name) or name.endswith('.hpp'):
                yield Finding(source.path, line, 'libbsp-alone', f'libbsp includes <{name}>',
                              'it links with nothing but libc: do it by hand, in base')
        for match in re.finditer(_THREADS_AND_SIGNALS, source.code):
            yield Finding(source.path, source.line_of(match.start()), 'libbsp-alone',
                          f'libbsp calls {match[0].rstrip("( ")}',
                          'it has no threads and no signal handlers inside the user\'s process')
