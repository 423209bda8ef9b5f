"""Answers of npm's `pica-data` (MIT) about PICA, recorded in `ground_truth/pica_data.jsonl`.

They are recorded again by this program, given a folder in which `npm install pica-data` was run:

    PYTHONPATH=src:tests python -m helpers.pica_data FOLDER

It asks `parsePica` to read texts, and `serializePica` to write what was read.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers.pica_records import invented_records

from hdbench.ground_truth.pica import to_normalized, to_plain

RECORDED = Path(__file__).parents[1] / "ground_truth" / "pica_data.jsonl"

_ASK = """
import { parsePica, serializePica } from "pica-data"
import { readFileSync } from "fs"
for (const line of readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const { form, text } = JSON.parse(line)
  let said
  try {
    const records = parsePica(text, { format: form, error: true })
    said = { form, text, records, plain: records.map(each => serializePica(each)) }
  } catch (error) {
    said = { form, text, error: error.message }
  }
  console.log(JSON.stringify(said))
}
"""

_DAMAGED = (
    "21A $aTitel",
    "321A $aTitel",
    "021a $aTitel",
    "021A",
    "021A ",
    "021A$aTitel",
    "021A  $aTitel",
    "021A ƒaTitel",
    "021A/1 $aTitel",
    "021A/100 $aTitel",
    "209A $aTitel",
    "209A/1 $aTitel",
    "021A $aTitel$",
    "021A $aTitel$ä",
    "021A $-Titel",
    "+ 021A $aTitel",
)


def damaged(seed: int, count: int) -> list[str]:
    """Records of one field in PICA Plain from which a sign is missing, or has another in place."""
    chance = random.Random(seed)
    texts = []
    for record in invented_records(count, seed):
        line = to_plain(record[:1]).decode().rstrip("\n")
        at = chance.randrange(len(line))
        texts.append(line[:at] + chance.choice(("", "$", "A", "0", " ", "/")) + line[at + 1 :])
    return texts


def cases(records: int, mutations: int) -> list[dict[str, str]]:
    """Texts to ask about, each with its form."""
    sound = invented_records(records, seed=11)
    plain = [to_plain(record).decode() for record in sound]
    plain += [*_DAMAGED, *damaged(12, mutations)]
    normalized = [to_normalized(record).decode().removesuffix("\n") for record in sound]
    normalized += [text.replace("$", "\x1f") + "\x1e" for text in _DAMAGED]
    return [{"form": "plain", "text": text} for text in plain] + [
        {"form": "normalized", "text": text} for text in normalized
    ]


def ask(folder: Path, asked: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What `pica-data` in a folder says about texts."""
    lines = "".join(f"{json.dumps(case)}\n" for case in asked)
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _ASK],
        cwd=folder,
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def main(folder: str) -> None:
    """Record them."""
    said = ask(Path(folder), cases(60, 60))
    lines = (f"{json.dumps(case, ensure_ascii=False)}\n" for case in said)
    RECORDED.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
