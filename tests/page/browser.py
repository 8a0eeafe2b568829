"""What a browser does with the coordinator's web page, as far as HTTP goes."""

import json
import ssl
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from harness.waiting import Failed

ANSWER_S = 60.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Keeps one cookie. `base`: http://HOST:PORT."""

    def __init__(self, base, ca_file=None):
        self.base, self.cookie = base, None
        handlers = [_NoRedirects(), urllib.request.ProxyHandler({})]
        if ca_file:
            context = ssl.create_default_context(cafile=ca_file)
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)

    def get(self, path, method="GET"):
        """The answer, whatever its status: with `status`, `headers`, and `read`."""
        request = urllib.request.Request(self.base + path, method=method)
        if self.cookie:
            request.add_header("Cookie", self.cookie)
        try:
            return self._opener.open(request, timeout=ANSWER_S)
        except urllib.error.HTTPError as answer:
            return answer

    def status(self, path, method="GET"):
        with self.get(path, method) as answer:
            return answer.status

    def open(self, url):
        """Follows what `bsp web` printed; returns the Set-Cookie."""
        with self.get(url.removeprefix(self.base)) as answer:
            if answer.status != 303 or answer.headers["Location"] != "/":
                raise Failed(f"{url}: {answer.status} {answer.read()}")
            set_cookie = answer.headers["Set-Cookie"]
        self.cookie = set_cookie.partition(";")[0]
        return set_cookie

    def events(self, path="/events"):
        """(name, value of the JSON) of server-sent events, as they come, until the stream ends.
        Raises Failed if there is no such stream."""
        with self.get(path) as answer:
            if answer.status != 200 or answer.headers["Content-Type"] != "text/event-stream":
                raise Failed(f"{path}: {answer.status} {answer.read()}")
            name = None
            for line in answer:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, json.loads(value)

    def first(self, wanted, path="/events", accept=lambda value: True):
        """The value of the first event of this name that `accept` takes."""
        for name, value in self.events(path):
            if name == wanted and accept(value):
                return value
        raise Failed(f"{path} ended without such an event {wanted}")


def opened(cluster, **options):
    """A browser with a session of the client whose environment has these `variables`."""
    url = json.loads(cluster.bsp("web", "--json", **options).stdout)["url"]
    parts = urlsplit(url)
    browser = Browser(f"{parts.scheme}://{parts.netloc}")
    browser.open(url)
    return browser
