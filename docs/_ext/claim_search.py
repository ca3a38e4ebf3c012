"""Search that takes the name of a claim, porous-034, for one word, and shows pages before functions."""

import re

from sphinx.search.en import SearchEnglish

_WORD = re.compile(r"\b(?:porous|swap|dpd|sph|electrons)-\d+\b|\w+")


class Search(SearchEnglish):
    """English words and claims."""

    js_splitter_code = """
function splitQuery(query) {
  return query.match(/\\b(?:porous|swap|dpd|sph|electrons)-\\d+\\b|[\\p{Letter}\\p{Number}_]+/giu) || [];
}
"""

    def split(self, input):
        """The words of a text, a claim being one, and its paper and number as well."""
        found = _WORD.findall(input)
        return found + [part for word in found if "-" in word for part in word.split("-")]


def setup(app):
    """Called by Sphinx."""
    app.add_search_language(Search)
    return {"parallel_read_safe": True}
