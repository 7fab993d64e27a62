# SPDX-License-Identifier: Apache-2.0
"""Sphinx, for the folder that build.py makes."""
import os

project = "Karpos"
author = "The Karpos developers"
copyright = author
release = version = os.environ["KARPOS_VERSION"]
extensions = ["myst_parser", "breathe"]
html_theme = "furo"
html_title = f"Karpos {release}"
html_static_path = ["_static"]
html_css_files = ["karpos.css"]
html_search_scorer = os.path.join(os.path.dirname(__file__), "scorer.js")
html_show_sphinx = False
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
highlight_language = "text"
breathe_projects = {"karpos": os.environ["KARPOS_XML"]}
breathe_default_project = "karpos"
breathe_default_members = ("members",)
breathe_show_include = False
suppress_warnings = ["myst.header"]  # headings may begin anywhere
