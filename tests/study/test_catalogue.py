import pytest

from repro.errors import InputError
from repro.study.notebooks import catalogue

TWO = [("porous/cavity", ""), ("porous/cavity_speed", 'needs = ["porous/cavity"]'), ("swap/cavity2", "")]


@pytest.fixture
def books(workshop):
    for name, entry in TWO:
        workshop.add(name, "pass", entry=entry)
    return catalogue.load(workshop.project)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("porous/cavity", ["porous/cavity"]),
        ("cavity", ["porous/cavity"]),
        ("porous", ["porous/cavity", "porous/cavity_speed"]),
        ("notebooks/porous/cavity.ipynb", ["porous/cavity"]),
    ],
)
def test_notebooks_are_found_by_id_last_part_folder_and_file(books, name, found):
    assert [book.id for book in books.select([name])] == found


def test_selection_includes_what_it_needs(books):
    assert [b.id for b in books.select(["cavity_speed"])] == ["porous/cavity", "porous/cavity_speed"]


def test_unknown_notebook_offers_the_nearest(books):
    with pytest.raises(InputError, match="did you mean.* cavity"):
        books.select(["cavty"])


def test_ambiguous_name_lists_the_candidates(workshop, books):
    workshop.add("swap/cavity", "pass")
    with pytest.raises(InputError, match="porous/cavity or swap/cavity"):
        catalogue.load(workshop.project).select(["cavity"])


def test_unknown_profile_lists_those_there_are(books):
    with pytest.raises(InputError, match="unknown profile 'qick': choose one of quick"):
        books.require_profile("qick")


def test_entry_without_its_file_is_named(workshop, books):
    (workshop.project.notebooks / "porous/cavity.ipynb").unlink()
    with pytest.raises(InputError, match=r"notebooks/porous/cavity\.ipynb is missing"):
        catalogue.require_files(books.notebooks, workshop.project)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[notebook]", "catalogue.toml: "),
        ('[[notebook]]\nid = "a"\n', "'paper' is missing"),
        ('[[notebook]]\nid = "a"\npaper = "p"\ntitle = "t"\nprofile = 1\n', "unknown key 'profile'"),
        ("notebook = 1", r"notebooks are tables \[\[notebook\]\]"),
        ("notebook = [1]", r"notebooks are tables \[\[notebook\]\]"),
        ("[[notebook]]\nid = 5", "id = 5 must be a path of letters"),
        ('[[notebook]]\nid = "../a"', r"id = '\.\./a' must be a path"),
        *(
            (f'[[notebook]]\nid = "a"\n{line}', rf"catalogue\.toml, a: {message}")
            for line, message in (
                ("title = 1", "title = 1 must be a text"),
                ("needs = 'b'", "needs = 'b' must be a list of texts"),
                ("data = [1]", r"data = \[1\] must be a list of texts"),
                ("timing = 1", "timing = 1 must be true or false"),
                ("profiles = 'quick'", "profiles = 'quick' must be a table of tables"),
                ("profiles = {q = 1}", r"profiles = \{'q': 1\} must be a table of tables"),
                (
                    "limits = {n = 5}",
                    r"limits = \{'n': 5\} must be a table of \{ least, most, multiple, has, fewest, together \} or",
                ),
                ("limits = {n = {least = 'x'}}", "limits = .* must be a table of"),
                ("limits = {n = {least = [1, 'x']}}", "limits = .* must be a table of"),
                ("limits = {n = {multiple = [2]}}", "limits = .* must be a table of"),
                ("limits = {n = {fewest = 'two'}}", "limits = .* must be a table of"),
                ("limits = {n = {one_of = []}}", "limits = .* must be a table of"),
                ("shows = {'figure 1' = 'a'}", r"shows = \{'figure 1': 'a'\} must be a table of lists of texts"),
                ("shows = {'figure 1' = []}", r"shows = \{'figure 1': \[\]\} must be a table of lists of texts"),
                ("seconds = {q = -1}", r"seconds = \{'q': -1\} must be a table of seconds"),
            )
        ),
        (
            '[[notebook]]\nid = "a"\npaper = "p"\ntitle = "t"\nneeds = ["b"]\nprofiles = {q = {}}\n',
            "needs 'b'",
        ),
    ],
)
def test_broken_catalogue_says_what_is_wrong(workshop, text, message):
    workshop.catalogue.write_text(text)
    with pytest.raises(InputError, match=message):
        catalogue.load(workshop.project)


def test_missing_catalogue_is_an_input_error(workshop):
    workshop.catalogue.unlink()
    with pytest.raises(InputError, match="is no checkout, .* REPRO_ROOT=PATH"):
        catalogue.load(workshop.project)
