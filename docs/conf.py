"""How Sphinx makes the site from the pages that tools/build_site.py lays out: nothing comes from the network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))

project = "gpu-papers-repro"
copyright = "the authors of gpu-papers-repro, MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc", "mathml", "plain_docstrings"]
extensions += ["verdicts", "claim_search", "descriptions"]
exclude_patterns = ["files"]

# the notebooks were run before; the site shows what they found
nb_execution_mode = "off"
nb_mime_priority_overrides = [("html", "image/gif", 5)]
nb_render_markdown_format = "myst"
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"ignore-module-all": True}
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["claims.js"]
# a place in an executed notebook is in its output, where Sphinx does not look and tools/site_check.py does
suppress_warnings = ["myst.xref_missing"]
html_search_language = "en"
html_search_scorer = str(Path(__file__).resolve().parent / "_static/scorer.js")
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
# a summary would be fetched from each page found, which a browser refuses for files on disk
html_show_search_summary = False
html_sidebars = {"index": [], "claims": []}
html_theme_options = {
    "logo": {"text": project},
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
