from src.rules import is_free


def test_an_empty_hall_is_free():
    assert is_free([], None, 9, 10)
