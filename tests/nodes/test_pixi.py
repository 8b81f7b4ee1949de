"""pixi.toml describes the environment in KNIME: what the nodes need, with the bounds of pyproject.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any, cast

import yaml

ROOT = Path(__file__).parent.parent.parent
PIXI: dict[str, Any] = tomllib.loads((ROOT / "pixi.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

NOT_FOR_KNIME = {"duckdb", "rich", "starlette", "typer", "uvicorn"}  # the runtime's SQL node, the command line, serving
FROM_KNIME = {"pyarrow"}  # part of knime-python-base


def bounds(requirements: list[str]) -> dict[str, str]:
    """Package to version bounds."""
    found = [re.fullmatch(r"([\w-]+)(\[.*\])?(.*)", each) for each in requirements]
    return {match[1]: match[3] for match in found if match and not match[2]}


def test_the_environment_has_what_the_nodes_need_and_no_more() -> None:
    extras = PROJECT["optional-dependencies"]
    needed = bounds(PROJECT["dependencies"]) | bounds(extras["models"]) | bounds(extras["code"])
    needed = {name: bound for name, bound in needed.items() if name not in NOT_FOR_KNIME | FROM_KNIME}
    given = PIXI["dependencies"] | PIXI["pypi-dependencies"]
    assert {name: bound for name, bound in given.items() if name != "python" and "knime" not in name} == needed


def test_the_environment_has_knimes_own_packages_for_every_system() -> None:
    assert PIXI["workspace"]["channels"] == ["knime", "conda-forge"]
    assert set(PIXI["workspace"]["platforms"]) == {"win-64", "linux-64", "osx-64", "osx-arm64"}
    assert {"python", "knime-extension", "knime-python-base", "knime-python-versions"} <= PIXI["dependencies"].keys()


def test_the_python_of_the_environment_is_one_that_the_project_supports() -> None:
    version = PIXI["dependencies"]["python"].removesuffix(".*")
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def test_knime_yml_names_the_file() -> None:
    described = cast("dict[str, Any]", yaml.safe_load((ROOT / "knime.yml").read_text("utf-8")))
    assert (ROOT / described["pixi_toml_path"]) == ROOT / "pixi.toml"
