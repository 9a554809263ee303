"""Asks the admin API for a page."""

import os
from typing import TypeVar

from heterodyne.cli.admin_client import AdminClient

Page = TypeVar("Page")


def ask(url: str, key_env: str, path: str, kind: type[Page]) -> Page:
    """With the operator's key, where the environment has one."""
    return AdminClient(url, os.environ.get(key_env)).call("GET", path, None, kind)
