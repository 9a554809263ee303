"""Asks the admin API about guards, caches and cascades."""

import os
from typing import TypeVar

from heterodyne.cli.admin_client import AdminClient

Page = TypeVar("Page")


def ask(url: str, key_env: str, path: str, kind: type[Page], form: object = None) -> Page:
    """With the operator's key, where the environment has one; with a form it is a change."""
    method = "GET" if form is None else "POST"
    return AdminClient(url, os.environ.get(key_env)).call(method, path, form, kind)
