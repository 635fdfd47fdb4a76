#!/usr/bin/env python3
"""Lengths of the sentences in the documents: words per sentence, median and 95th percentile, for each document. Words of all documents.

    tools/prose.py [--long N] [DOCUMENT ...]     --long shows the sentences of more than N words; all documents unless named

Tables, code, headings, printed blocks and generated files are left out. Exit code 1 if a document of ten sentences
or more exceeds a median of 16 or a 95th percentile of 32, or if all documents together, tables and code included, exceed 60 000 words. A
word has a letter or a digit.
"""
import math
import pathlib
import re
import subprocess
import sys

MEDIAN, HIGH = 16, 32
MOST_WORDS = 60_000
# Documents with fewer sentences are not judged.
FEW = 10
# The changelog is a list of short entries.
LEFT_OUT = {"CHANGELOG.md"}


def sentences(text):
    text = re.sub(r"<!-- printed by.*?<!-- end of print -->", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^```.*?^```", "\n", text, flags=re.S | re.M)
    paragraphs, lines = [], []
    for line in text.splitlines() + [""]:
        content = line.strip()
        if not content or content.startswith(("#", "|", "![", "---")):
            paragraphs.append(" ".join(lines))
            lines = []
            continue
        if re.match(r"([*-]|\d+\.) ", content):
            paragraphs.append(" ".join(lines))
            lines = [re.sub(r"^([*-]|\d+\.) ", "", content)]
            continue
        lines.append(content)
    for paragraph in paragraphs:
        # A link counts by its text, a code span as one word.
        paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        paragraph = re.sub(r"`[^`]*`", "code", paragraph)
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z0-9*(])", paragraph):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if words:
                yield words


def main(arguments):
    limit = None
    if arguments[:1] == ["--long"]:
        limit, arguments = int(arguments[1]), arguments[2:]
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True, check=True)
    documents = arguments or [name for name in listed.stdout.split() if not (root / name).is_symlink()]
    missed, total = False, 0
    for name in documents:
        text = (pathlib.Path(name) if arguments else root / name).read_text(encoding="utf-8")
        total += sum(1 for word in text.split() if re.search(r"\w", word))
        found = list(sentences(text))
        if not found or (name in LEFT_OUT and not arguments):
            continue
        lengths = sorted(map(len, found))
        median, high = lengths[len(lengths) // 2], lengths[math.ceil(0.95 * len(lengths)) - 1]
        over = len(lengths) >= FEW and (median > MEDIAN or high > HIGH)
        missed |= over
        print(f"{name:40} {len(lengths):5} sentences, median {median:3}, 95th percentile {high:3}{'  too long' if over else ''}")
        for words in found if limit else []:
            if len(words) > limit:
                print(f"    {len(words)}: {' '.join(words)}")
    print(f"{total} words{'  too many' if total > MOST_WORDS else ''}")
    return int(missed or total > MOST_WORDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
