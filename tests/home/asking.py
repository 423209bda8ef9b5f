"""Requests to the home, as its pages send them, and files for them."""

import io
import re
from urllib.parse import urlencode

from PIL import Image

HERE = {"origin": "http://127.0.0.1"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def send(client, path, **form):
    return client.post(path, content=urlencode(form), headers=HERE | FORM)


def upload(client, path, name, data):
    return client.post(f"{path}?{urlencode({'name': name})}", content=data, headers=HERE)


def alert(page):
    return re.search(r'role="alert">(.*?)</p>', page.text)[1]


def picture(color="black", form="PNG"):
    data = io.BytesIO()
    Image.new("RGB", (9, 6), color).save(data, form)
    return data.getvalue()
