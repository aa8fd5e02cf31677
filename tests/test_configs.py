"""Reading YAML strictly: what is refused, and that hostile files stay cheap."""

from __future__ import annotations

from pathlib import Path

import pytest

from spades_env.configs import MAX_BYTES, ConfigError, config_path, load_mapping, parse_mapping


def test_plain_mapping() -> None:
    assert parse_mapping("a: 1\nb: text\nc: null\nd: true\n", "x.yaml") == {
        "a": 1,
        "b": "text",
        "c": None,
        "d": True,
    }


@pytest.mark.parametrize("text", ["", "# only a comment\n", "- 1\n- 2\n", "word", "3", "null"])
def test_anything_but_a_mapping_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^x\.yaml.* must be a mapping of names to values$"):
        parse_mapping(text, "x.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 1\n", "x.yaml, line 3: key 'a' is given twice"),
        ("a: 1\n'a': 2\n", "x.yaml, line 2: key 'a' is given twice"),
        ("a: [1, 2]\n", "x.yaml, line 1: nested deeper than 1 level(s)"),
        ("a:\n  b: 1\n", "x.yaml, line 2: nested deeper than 1 level(s)"),
        ("&x {a: 1, <<: *x}\n", "x.yaml, line 1: merge keys (<<) are not used here; write the keys out"),
        ("&x {a: *x}\n", "x.yaml, line 1: *x repeats a whole mapping or list; write it out"),
        ("? {b: 1}\n: 2\n", "x.yaml, line 1: a key must be plain text"),
        ("1: 2\n", "x.yaml: key 1 is an int, but keys are text"),
        ("a: 1\n b: 2\n", "x.yaml: not valid YAML: mapping values are not allowed here, line 2"),
        ("a: !!python/object/apply:os.getcwd []\n", "x.yaml, line 1: nested deeper than 1 level(s)"),
        ("a: !!python/name:os.getcwd\n", "x.yaml: not valid YAML: could not determine a constructor"),
        ("a: 2020-13-45\n", "x.yaml: not valid YAML: month must be in 1..12"),
        ("a: *nowhere\n", "x.yaml: not valid YAML: found undefined alias 'nowhere', line 1"),
        ("a: 1\n---\nb: 2\n", "x.yaml: not valid YAML: but found another document, line 2"),
        ("a: \x00\n", "x.yaml: not valid YAML: "),
    ],
)
def test_refused_text(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_mapping(text, "x.yaml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_aliases_of_scalars_are_harmless() -> None:
    assert parse_mapping("a: &x 5\nb: *x\n", "x.yaml") == {"a": 5, "b": 5}


def test_nesting_up_to_max_depth() -> None:
    text = "a:\n  b: [1, 2]\nc: {b: 3}\n"
    assert parse_mapping(text, "x.yaml", max_depth=3) == {"a": {"b": [1, 2]}, "c": {"b": 3}}
    with pytest.raises(ConfigError, match="line 2: nested deeper than 2"):
        parse_mapping(text, "x.yaml", max_depth=2)
    with pytest.raises(ConfigError, match="line 3: key 'b' is given twice"):
        parse_mapping("a:\n  b: 1\n  b: 2\n", "x.yaml", max_depth=3)
    with pytest.raises(ConfigError, match="repeats a whole mapping or list"):
        parse_mapping("a: &l [1]\nb: [*l, *l]\n", "x.yaml", max_depth=3)


@pytest.mark.parametrize("bracket", ["[", "{a: "])
def test_hostile_nesting_is_refused_at_once(bracket: str) -> None:
    with pytest.raises(ConfigError, match="nested deeper"):
        parse_mapping("a: " + bracket * 10_000, "x.yaml", max_depth=10)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 1\n#" + b"x" * (MAX_BYTES - 6))
    assert load_mapping(path) == {"a": 1}
    path.write_bytes(b"a: 1\n#" + b"x" * (MAX_BYTES - 5))
    with pytest.raises(ConfigError, match=rf"x\.yaml: larger than {MAX_BYTES} bytes"):
        load_mapping(path)
    path.write_bytes(b"a: \xff\n")
    with pytest.raises(ConfigError, match=r"x\.yaml: not UTF-8 text \(byte 3\)"):
        load_mapping(path)


def test_config_path() -> None:
    assert config_path("rules/classic.yaml").is_file()
    for name in ("rules/none.yaml", "rules", "../pyproject.toml", ""):
        with pytest.raises(ConfigError, match="is not shipped"):
            config_path(name)
