"""What tests do on the pages of the Space."""

import csv
import io
import json
import zipfile

import openpyxl


def upload(page, name, content):
    if isinstance(content, str):
        content = content.encode()
    page.locator("#file input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    page.locator("#file").get_by_role("link").wait_for()
    page.locator("#score").click()


def choose(page, title):
    page.locator("#benchmark input").click()
    page.get_by_role("option", name=title, exact=True).click()


def report(page):
    page.locator("#report iframe").wait_for()
    return page.frame_locator("#report iframe")


def save(page, kind, folder):
    with page.expect_download() as waiting:
        page.locator(f"#download-{kind}").click()
    waiting.value.save_as(folder / waiting.value.suggested_filename)
    return folder / waiting.value.suggested_filename


def as_csv(answers):
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerows([("id", "prediction"), *((key, json.dumps(value)) for key, value in answers)])
    return table.getvalue()


def as_xlsx(answers):
    book = openpyxl.Workbook()
    for row in [("id", "prediction"), *((key, json.dumps(value)) for key, value in answers)]:
        book.active.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def as_zip(answers):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for key, value in answers:
            archive.writestr(f"{key}.json", json.dumps(value))
    return data.getvalue()


def as_jsonl(answers):
    return "".join(json.dumps({"id": key, "prediction": value}) + "\n" for key, value in answers)
