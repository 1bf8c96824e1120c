"""Hooks of mkdocs for the site: links that leave docs/, and the page that leads to the Javadoc."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")

JAVADOC = """# Javadoc

<a href="javadoc/index.html">Javadoc of the libraries</a>, module by module.
"""
NO_JAVADOC = """# Javadoc

This site was built without the Javadoc of the libraries. `make docs` builds it; `make site` after that includes it.
"""


def on_page_markdown(markdown, page, config, files):
    """Replaces links to files of the repository that are not part of the site by the path of the file."""
    docs = Path(config.docs_dir)
    folder = (docs / page.file.src_uri).parent

    def outside(link):
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs) or not target.exists():
            return link[0]
        return f"{link[1]} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(outside, markdown)


def on_files(files, config):
    there = (ROOT / "build/docs/index.html").exists()
    files.append(File.generated(config, "javadoc.md", content=JAVADOC if there else NO_JAVADOC))
    return files
