"""One home in the browser for a collection's whole life: what `hdbench open` serves.

Files are all that it knows: each page shows what they say at that moment, so that pages and
commands can be mixed. `state.py` says where a collection stands and what comes next.

A page is a `HomePage` in `PAGES` in `app.py`: its name, which is that of its template
`templates/NAME.html` (it extends `layout.html`) and the last part of its address; a function that
returns what the template shows; its forms, each with a function that does what the form asks for;
and the files that come and go. A form is `<form method="post" action="{{ at("NAME/FORM") }}">`: its
fields come as texts. An `HdbenchError` is shown in one line above the page, in which the fields
keep what was typed (`form.get("field", "")` in the template). A text is a key in `texts/*.yaml`,
`t("key", name=value)` in a template. Nobody but the browser of this machine is answered, and no
request of another page.

Imports lead one way: `folder.py`, `run_list.py` and `decisions.py`, `collection.py`, `page.py`, the
pages, `app.py`.
"""
