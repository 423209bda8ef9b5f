"""A small PDF whose page takes many minutes to draw."""

_LEVELS = 3
_TIMES = 20


def slow_pdf():
    """A page that draws what is drawn twenty times within what is drawn twenty times, and so on."""
    box = "/MediaBox [0 0 600 600]"
    content = {n: f"/F{n + 1} Do\n" * _TIMES for n in range(_LEVELS)}
    content[_LEVELS] = "1 0 0 rg 0 0 600 600 re f\n" * _TIMES
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [3 0 R] /Count 1 {box} >>",
    ]
    objects.append(
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /F1 5 0 R >> >> >>"
    )
    for level, text in content.items():
        form = (
            ""
            if level == 0
            else (
                f"/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Resources "
                f"<< /XObject << /F{level + 1} {5 + level} 0 R >> >> "
            )
        )
        objects.append(f"<< {form}/Length {len(text)} >>\nstream\n{text}endstream")
    data, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()
