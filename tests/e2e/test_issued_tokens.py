"""Tokens of an issuer before the real product: for a project without any key, and gone with the next reload."""

import json
import time
from pathlib import Path

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.e2e.test_tenants import ask, command
from tests.support.issuers import Trusted, trusted_issuer
from tests.support.threads import in_thread

MODEL = "chat"
WITHIN_S = 60.0


def settings(trusted: Trusted, engine: ScriptedEngine, *, trusts: bool) -> str:
    pool = f'[pools.chat]\nmodel = "{MODEL}"\nengine = "openai"\nurls = ["{engine.url}"]\n'
    issuer = f"""[issuers.corp]
issuer_url = "{trusted.issuer.url}"
audiences = ["gateway"]
claim = ["tenant"]
projects = ["acme/*"]
tls_authorities = "{trusted.authority.file}"
"""
    return pool + (issuer if trusts else "[admission]\nrequires_key = true\n")


def test_a_token_opens_a_project_that_was_made_meanwhile_and_nothing_when_its_issuer_is_gone(tmp_path: Path) -> None:
    engine = ScriptedEngine(behaviours.answer(), model=MODEL)
    with in_thread(trusted_issuer(tmp_path)) as trusted, in_thread(engine):
        config = settings(trusted, engine, trusts=True)
        with ServeProcess(tmp_path, "--workers", "2", config=config) as serve:
            serve.wait_ready()
            token = trusted.issuer.token(tenant="acme/search")
            refused = ask(serve.url, token, model=MODEL)
            assert (refused.status, refused.code) == (401, "invalid_token")
            for name in ("acme", "acme/search"):
                command("tenants", "create", name, "--url", serve.admin_url)
            assert [ask(serve.url, token, model=MODEL).status for _ in range(8)] == [200] * 8
            other = ask(serve.url, trusted.issuer.token(tenant="evil/search"), model=MODEL)
            assert "evil/search" in json.loads(other.body)["error"]["message"]

            serve.config_file.write_text(settings(trusted, engine, trusts=False), encoding="utf-8")
            command("fleet", "reload", "--url", serve.admin_url)
            until_s = time.monotonic() + WITHIN_S
            while ask(serve.url, token, model=MODEL).status != 401:
                assert time.monotonic() < until_s
                time.sleep(0.1)
