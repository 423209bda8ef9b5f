"""A real OpenRefine without a browser, driven by the requests of its own page."""

import json
import os
import signal
import socket
import subprocess
from contextlib import suppress

import httpx
from helpers.waiting import until

EVERYTHING = json.dumps({"facets": [], "mode": "row-based"})


class OpenRefine:
    """OpenRefine with its data in a folder, while its context lasts."""

    def __init__(self, folder):
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{self._port}/command/core/", timeout=120
        )

    def __enter__(self):
        data, log = self._folder / "data", self._folder / "openrefine.log"
        data.mkdir(parents=True)
        command = ["openrefine", "-p", self._port, "-i", "127.0.0.1", "-d", data, "-m", "512M"]
        with log.open("w") as said:
            self._process = subprocess.Popen(
                [*map(str, command), "-x", "refine.headless=true"],
                stdout=said,
                stderr=said,
                env=os.environ | {"HOME": str(self._folder)},
                start_new_session=True,  # the program is a child of a script
            )
        until(self._is_there, "OpenRefine")
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=120)
        self._client.close()

    def _is_there(self):
        assert self._process.poll() is None, (self._folder / "openrefine.log").read_text()
        try:
            return self._client.get("get-version").is_success
        except httpx.TransportError:
            return False

    def _do(self, command, **fields):
        token = self._client.get("get-csrf-token").json()["token"]
        response = self._client.post(command, params={"csrf_token": token}, data=fields)
        response.raise_for_status()
        assert response.json().get("code") in {"ok", "pending"}, response.text
        return response.json()

    def open(self, path):
        """The project of a file that is opened as OpenRefine proposes it, without any change."""
        job = str(self._import(path))
        (form, *_) = self._job(job)["config"]["rankedFormats"]
        proposed = self._importing(job, "initialize-parser-ui", format=form)["options"]
        done = self._importing(
            job, "create-project", format=form, options=json.dumps(proposed | {"projectName": "p"})
        )
        assert done["status"] == "ok", done
        until(lambda: "projectID" in self._job(job)["config"], "the project")
        project = self._job(job)["config"]["projectID"]
        return Project(self, project)

    def _import(self, path):
        token = self._client.get("get-csrf-token").json()["token"]
        made = self._client.post("create-importing-job", params={"csrf_token": token}).json()
        job = made["jobID"]
        with path.open("rb") as file:
            response = self._client.post(
                "importing-controller",
                params={
                    "csrf_token": token,
                    "controller": "core/default-importing-controller",
                    "jobID": job,
                    "subCommand": "load-raw-data",
                },
                files={"upload": (path.name, file)},
            )
        response.raise_for_status()
        until(lambda: self._job(job)["config"]["state"] == "ready", "the file")
        return job

    def _importing(self, job, command, **fields):
        token = self._client.get("get-csrf-token").json()["token"]
        response = self._client.post(
            "importing-controller",
            params={
                "csrf_token": token,
                "controller": "core/default-importing-controller",
                "jobID": job,
                "subCommand": command,
            },
            data=fields,
        )
        response.raise_for_status()
        return response.json()

    def _job(self, job):
        token = self._client.get("get-csrf-token").json()["token"]
        for _ in range(10):  # it fails while another thread changes the status
            with suppress(httpx.RemoteProtocolError):
                response = self._client.post(
                    "get-importing-job-status", params={"csrf_token": token, "jobID": job}
                )
                break
        status = response.json()["job"]
        assert status["config"].get("state") != "error", status
        return status


class Project:
    """A table that is open in OpenRefine."""

    def __init__(self, program, number):
        self._program, self._number = program, number

    def rows(self):
        """The cells of each row: texts, numbers, or None."""
        response = self._program._client.post(
            "get-rows",
            params={"project": self._number, "start": 0, "limit": 1000},
            data={"engine": EVERYTHING},
        ).json()
        return [[cell and cell.get("v") for cell in row["cells"]] for row in response["rows"]]

    def columns(self):
        """The names of the columns."""
        models = self._program._client.get("get-models", params={"project": self._number})
        return [column["name"] for column in models.json()["columnModel"]["columns"]]

    def reconcile(self, column, url, type_id):
        """Reconcile a column with a service, and take what matches."""
        manifest = httpx.get(url, timeout=60).json()
        config = {
            "mode": "standard-service",
            "service": url,
            "identifierSpace": manifest["identifierSpace"],
            "schemaSpace": manifest["schemaSpace"],
            "type": {"id": type_id, "name": type_id},
            "autoMatch": True,
            "columnDetails": [],
            "limit": 0,
        }
        self._program._do(
            "reconcile",
            project=self._number,
            columnName=column,
            engine=EVERYTHING,
            config=json.dumps(config),
        )
        until(lambda: not self._processes(), "reconciling")

    def _processes(self):
        response = self._program._client.get("get-processes", params={"project": self._number})
        return response.json()["processes"]

    def add_identifiers(self, column, name):
        """Add a column with the identifiers of a reconciled one, as the menu entry does."""
        self._program._do(
            "add-column",
            project=self._number,
            baseColumnName=column,
            newColumnName=name,
            expression="grel:cell.recon.match.id",
            onError="set-to-blank",
            columnInsertIndex=len(self.columns()),
            engine=EVERYTHING,
        )

    def export(self, path):
        """Write the table as CSV."""
        response = self._program._client.post(
            "export-rows/table.csv",
            data={"project": self._number, "format": "csv", "engine": EVERYTHING},
        )
        path.write_bytes(response.content)
        return path
