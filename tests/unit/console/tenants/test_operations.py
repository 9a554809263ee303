from heterodyne.console.tenants import operations
from heterodyne.console.tenants.operations import ChangeOperation
from heterodyne.console.tenants.page_query import PageQuery
from heterodyne.console.tenants.routes import OPERATIONS


def test_a_project_is_found_by_both_parts_of_its_id() -> None:
    assert operations.PROJECT.id_parts == ["organisation", "name"]
    assert operations.PROJECT.path_of("acme/search") == "/admin/projects/acme/search"
    assert operations.PROJECT.path_of("acme/a b/c") == "/admin/projects/acme/a%20b%2Fc"
    assert operations.PROJECT.path_of("acme") == "/admin/projects/acme/"
    assert operations.ORGANISATION.path_of("a/b") == "/admin/organisations/a%2Fb"


def test_a_page_has_only_the_words_that_are_given() -> None:
    assert operations.ORGANISATIONS.path_of(PageQuery(limit=5)) == "/admin/organisations?limit=5"
    asked = PageQuery(after="key_1", limit=5, of="acme/search", with_spent=True)
    assert operations.KEYS.path_of(asked) == "/admin/keys?after=key_1&limit=5&with_spent=true&project=acme%2Fsearch"


def test_every_operation_of_the_table_is_a_route() -> None:
    listed = [one for one in vars(operations).values() if type(one).__name__.endswith("Operation")]
    assert {id(one) for one in listed} == {id(one) for one in OPERATIONS}


def test_changes_are_logged_by_the_name_of_what_they_do() -> None:
    names = [one.name for one in OPERATIONS if isinstance(one, ChangeOperation)]
    assert "rotate_key" in names
    assert len(set(names)) == len(names)
