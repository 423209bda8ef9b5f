"""What the Hub answers to each request, as its clients expect it."""

import base64
import hashlib
import json
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from hub.repositories import TIME, Commit, File, Repository, is_text
from hub.validation import refused

REGULAR = 10 * 2**20
"""Bytes of a text that is kept in git, at most."""

KINDS = ("models", "datasets", "spaces")


class Refused(Exception):  # noqa: N818  it is an answer
    """An answer that is no success."""

    def __init__(self, status, message, code=None, **body):
        super().__init__(message)
        self.status, self.body = status, {"error": message} | body
        self.headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})


class Answer(NamedTuple):
    """What is sent back: bytes as they are, anything else as JSON."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012  never changed


class Call:
    """One request being answered, by the method whose route fits."""

    def __init__(self, hub, request, query, headers, body):
        self.hub, self.request, self.query = hub, request, query
        self.headers, self.body = headers, body
        self.account = hub.accounts.get(request.token)

    @property
    def json(self):
        return json.loads(self.body)

    def answer(self):
        if self.request.token and self.account is None:
            raise Refused(401, "Invalid credentials in Authorization header")
        for method, pattern, answer in _ROUTES:
            found = re.fullmatch(pattern, self.request.path)
            if found and self.request.method in method:
                groups = {key: unquote(value or "") for key, value in found.groupdict().items()}
                return answer(self, **groups)
        raise Refused(404, f"Sorry, we can't find {self.request.path}")

    def repository(self, kind, repo_id):
        """A repository that the visitor may see."""
        found = self.hub.repositories.get((kind or "models", repo_id))
        member = self.account and repo_id.split("/")[0] in self.account.namespaces
        if found is None or (found.private and not member):
            raise Refused(404 if self.account else 401, "Repository not found", "RepoNotFound")
        return found

    def revision(self, kind, repo_id, revision):
        """A repository and a commit's id in it."""
        repository = self.repository(kind, repo_id)
        oid = repository.oid(revision)
        if oid is None:
            raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return repository, oid

    def writing(self, namespace=None):
        """Whether the token may write, there."""
        if self.account is None:
            raise Refused(401, "Invalid username or password.")
        if not self.account.may_write:
            raise Refused(403, "Forbidden: pass a token that has the permission to write")
        if namespace is not None and namespace not in self.account.namespaces:
            raise Refused(403, f"You don't have the rights to write into {namespace}")

    def whoami(self):
        if self.account is None:
            raise Refused(401, "Invalid username or password.")
        role = "write" if self.account.may_write else "read"
        return {
            "type": "user",
            "name": self.account.name,
            "orgs": [{"name": name} for name in self.account.namespaces[1:]],
            "auth": {"type": "access_token", "accessToken": {"role": role}},
        }

    def create(self):
        wanted = self.json
        namespace = wanted.get("organization") or (self.account.name if self.account else "")
        self.writing(namespace)
        repo_id, kind = f"{namespace}/{wanted['name']}", f"{wanted.get('type') or 'model'}s"
        prefix = "" if kind == "models" else f"{kind}/"
        url = f"{self.hub.url}/{prefix}{repo_id}"
        if (kind, repo_id) in self.hub.repositories:
            raise Refused(409, "You already created this repo", url=url)
        private = wanted.get("visibility") == "private" or bool(wanted.get("private"))
        self.hub.repositories[kind, repo_id] = Repository(kind, repo_id, self.account.name, private)
        return {"url": url, "name": repo_id}

    def validate_yaml(self):
        content = self.json["content"]
        if why := refused("README.md", content.encode()):
            raise Refused(400, "Bad request", errors=[{"message": why}])
        warnings = [{"message": "empty or missing yaml metadata in repo card"}]
        return {"errors": [], "warnings": [] if content.startswith("---\n") else warnings}

    def list_repositories(self, kind):
        return [
            each.about("main")
            for (its_kind, repo_id), each in sorted(self.hub.repositories.items())
            if its_kind == kind and repo_id.split("/")[0] == self.query.get("author")
            if not each.private
            or (self.account and each.id.split("/")[0] in self.account.namespaces)
        ]

    def bucket(self, repo):
        found = self.repository("buckets", repo)
        about = {"private": found.private, "createdAt": TIME, "size": 0, "totalFiles": 0}
        return {"id": found.id, **about}

    def jobs(self, namespace):
        self.writing(namespace)
        name, _, value = self.query["label"].partition("=")
        return [job for job in self.hub.jobs if job["labels"].get(name) == value]

    def about(self, kind, repo, revision):
        repository, oid = self.revision(kind, repo, revision or "main")
        return repository.about(oid, blobs="blobs" in self.query)

    def tree(self, kind, repo, revision, path):
        repository, oid = self.revision(kind, repo, revision)
        entries = _entries(repository.commits[oid].files, path.strip("/"))
        if not entries:
            raise Refused(404, f"{path} does not exist", "EntryNotFound")
        if self.query.get("recursive", "false").lower() != "true":
            depth = path.strip("/").count("/") + (2 if path.strip("/") else 1)
            entries = [each for each in entries if each["path"].count("/") < depth]
        return entries

    def paths_info(self, kind, repo, revision):
        repository, oid = self.revision(kind, repo, revision)
        kind_of_body = self.headers.get("Content-Type", "")
        pairs = parse_qsl(self.body.decode()) if "form" in kind_of_body else []
        wanted = [value for key, value in pairs if key == "paths"] or self.json["paths"]
        entries = _entries(repository.commits[oid].files, "")
        return [each for each in entries if each["path"] in [path.strip("/") for path in wanted]]

    def refs(self, kind, repo):
        found = self.repository(kind, repo)
        return {
            "branches": _refs("refs/heads/", found.branches),
            "tags": _refs("refs/tags/", found.tags),
            "converts": [],
        }

    def commits(self, kind, repo, revision):
        repository, oid = self.revision(kind, repo, revision)
        return [
            {
                "id": each,
                "title": repository.commits[each].title,
                "message": repository.commits[each].description,
                "date": TIME,
                "authors": [{"user": repository.commits[each].author}],
            }
            for each in repository.log(oid)
        ]

    def tag(self, kind, repo, revision):
        self.writing(repo.split("/")[0])
        found, oid = self.revision(kind, repo, revision)
        if self.json["tag"] in found.tags:
            raise Refused(409, "Tag reference exists already")
        found.tags[self.json["tag"]] = oid
        return {}

    def preupload(self, kind, repo, revision):
        self.writing(repo.split("/")[0])
        repository, oid = self.revision(kind, repo, revision)
        there = repository.commits[oid].files
        return {
            "files": [
                {
                    "path": each["path"],
                    "uploadMode": "lfs" if large else "regular",
                    "shouldIgnore": False,
                    "oid": there[each["path"]].etag if each["path"] in there else None,
                }
                for each in self.json["files"]
                for sample in [base64.b64decode(each["sample"])]
                for large in [each["size"] > REGULAR or not is_text(sample)]
            ]
        }

    def lfs_batch(self, kind, repo):
        self.writing()
        self.repository(kind.strip("/"), repo)
        return {
            "transfer": "basic",
            "objects": [
                each
                if each["oid"] in self.hub.large
                else each
                | {
                    "actions": {
                        "upload": {"href": f"{self.hub.large_url}/{each['oid']}"},
                        "verify": {"href": f"{self.hub.url}/lfs/verify"},
                    }
                }
                for each in self.json["objects"]
            ],
        }

    def lfs_upload(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refused(400, "the content is not of this sha256")
        self.hub.large[oid] = self.body
        return Answer()

    def lfs_verify(self):
        if len(self.hub.large.get(self.json["oid"], b"")) != self.json["size"]:
            raise Refused(404, "no such object")
        return {}

    def lfs_download(self, oid):
        return self._content(self.hub.large[oid], {"ETag": f'"{oid}"'})

    def commit(self, kind, repo, revision):
        self.writing(repo.split("/")[0])
        repository, head = self.revision(kind, repo, revision)
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        parent = repository.oid(header["parentCommit"]) if "parentCommit" in header else head
        if parent is None or parent != head:
            raise Refused(412, "A commit has happened since. Please refresh and try again.")
        files = dict(repository.commits[parent].files)
        for line in lines[1:]:
            self._change(files, line["key"], line["value"])
            path = line["value"]["path"]
            if kind == "datasets" and path in files and (why := refused(path, files[path].data)):
                raise Refused(400, f"Invalid {path}: {why}")
        about = header["summary"], header.get("description", "")
        commit = Commit(files, *about, self.account.name, parent)
        place = f"{self.hub.url}/{'' if kind == 'models' else kind + '/'}{repo}"
        oid = repository.add(commit, revision)
        return {"success": True, "commitOid": oid, "commitUrl": f"{place}/commit/{oid}"}

    def _change(self, files, key, value):
        """Do one line of a commit."""
        path = value["path"]
        if key == "file":
            files[path] = File(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            if value["oid"] not in self.hub.large:
                raise Refused(400, f"{path}: its content was not uploaded")
            files[path] = File(self.hub.large[value["oid"]], lfs=True)
        elif key in ("deletedFile", "deletedFolder"):
            gone = [
                each for each in files if each == path or each.startswith(f"{path.strip('/')}/")
            ]
            if not gone:
                raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
            for each in gone:
                del files[each]
        else:
            raise Refused(400, f"unknown operation {key}")

    def resolve(self, kind, repo, revision, path):
        repository, oid = self.revision(kind.strip("/"), repo, revision)
        file = repository.commits[oid].files.get(path)
        headers = {"X-Repo-Commit": oid}
        if file is None:
            refused = Refused(404, "Entry not found", "EntryNotFound")
            refused.headers |= headers
            raise refused
        if not file.lfs:
            return self._content(file.data, headers | {"ETag": f'"{file.etag}"'})
        self.hub.large[file.sha256] = file.data
        headers |= {"X-Linked-Etag": f'"{file.etag}"', "X-Linked-Size": str(len(file.data))}
        there = f"{self.hub.large_url}/{file.sha256}"
        return Answer(b"", 302, headers | {"Location": there, "ETag": f'"{file.blob}"'})

    def _content(self, data, headers):
        headers = headers | {"Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked:
            return Answer(data, headers=headers)
        start, end = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        if start >= len(data):
            return Answer(b"", 416, headers | {"Content-Range": f"bytes */{len(data)}"})
        part = {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        return Answer(data[start : end + 1], 206, headers | part)


_KIND = rf"/api/(?P<kind>{'|'.join(KINDS)})"
_REPO = rf"{_KIND}/(?P<repo>[^/]+/[^/]+)"
_PLACE = r"/(?P<kind>datasets/|spaces/|)(?P<repo>[^/]+/[^/]+?)"
_REVISION = r"(?P<revision>[^/]+)"
_ROUTES = [
    (("GET",), "/api/whoami-v2", Call.whoami),
    (("POST",), "/api/repos/create", Call.create),
    (("POST",), "/api/validate-yaml", Call.validate_yaml),
    (("GET",), "/api/buckets/(?P<repo>[^/]+/[^/]+)", Call.bucket),
    (("GET",), "/api/jobs/(?P<namespace>[^/]+)", Call.jobs),
    (("GET",), _KIND, Call.list_repositories),
    (("GET",), rf"{_REPO}(?:/revision/{_REVISION})?", Call.about),
    (("GET",), rf"{_REPO}/tree/{_REVISION}(?P<path>/.*)?", Call.tree),
    (("POST",), rf"{_REPO}/paths-info/{_REVISION}", Call.paths_info),
    (("GET",), rf"{_REPO}/refs", Call.refs),
    (("GET",), rf"{_REPO}/commits/{_REVISION}", Call.commits),
    (("POST",), rf"{_REPO}/tag/{_REVISION}", Call.tag),
    (("POST",), rf"{_REPO}/preupload/{_REVISION}", Call.preupload),
    (("POST",), rf"{_REPO}/commit/{_REVISION}", Call.commit),
    (("POST",), rf"{_PLACE}\.git/info/lfs/objects/batch", Call.lfs_batch),
    (("PUT",), "/lfs/(?P<oid>[0-9a-f]{64})", Call.lfs_upload),
    (("POST",), "/lfs/verify", Call.lfs_verify),
    (("GET", "HEAD"), "/lfs/(?P<oid>[0-9a-f]{64})", Call.lfs_download),
    (("GET", "HEAD"), rf"{_PLACE}/resolve/{_REVISION}/(?P<path>.+)", Call.resolve),
]


def _entries(files, folder):
    """The files and folders below a folder, sorted by path."""
    prefix = f"{folder}/" if folder else ""
    found = {
        path: {"type": "file", "path": path} | file.about()
        for path, file in files.items()
        if path.startswith(prefix)
    }
    for path in list(found):
        parts = path[len(prefix) :].split("/")
        for depth in range(1, len(parts)):
            above = prefix + "/".join(parts[:depth])
            oid = hashlib.sha1(above.encode()).hexdigest()
            found[above] = {"type": "directory", "path": above, "oid": oid, "size": 0}
    return [found[path] for path in sorted(found)]


def _refs(prefix, refs):
    return [{"name": name, "ref": prefix + name, "targetCommit": oid} for name, oid in refs.items()]
