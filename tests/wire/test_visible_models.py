"""A key learns of no model that it may not use, whatever it asks; and knows a model by every name it may use."""

import pytest

from heterodyne.domain.tenant import Scopes
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat, get, post
from tests.support.tenants import bearer, caller, tenants

SECRET = "scripted-secret"
SCOPED, FREE = bearer("scoped"), bearer("free")
TENANTS = tenants(scoped=caller("acme/scoped", scopes=(Scopes(models=(MODEL, "public-*")),)), free=caller())
INFER = b'{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]}'


async def test_a_404_lists_only_models_that_the_key_may_see() -> None:
    beside, model = {SECRET: behaviours.answer()}, {"aliases": ("public-name", "hidden-name")}
    async with gateway_over(behaviours.answer(), beside=beside, model=model, tenants=TENANTS) as rig:
        for asked in (
            chat(SCOPED, model="public-scripted-secret"),
            get("/v1/models/public-scripted-secret", SCOPED),
        ):
            answer = await ask(rig.port, asked)
            assert (answer.status, answer.error["code"]) == (404, "model_not_found")
            assert answer.error["message"].endswith(f"Known models: {MODEL}, public-name.")
        for asked in (
            get("/v2/models/public-scripted-secret", SCOPED),
            get("/v2/models/public-scripted-secret/ready", SCOPED),
            post("/v2/models/public-scripted-secret/infer", INFER, SCOPED),
        ):
            answer = await ask(rig.port, asked)
            assert answer.status == 404
            assert b"does not exist" in answer.body
            assert SECRET.encode() not in answer.body.replace(b"public-scripted-secret", b"")
            assert b"hidden-name" not in answer.body
        told = await ask(rig.port, chat(FREE, model="scripted-secre"))
        assert f"Did you mean {SECRET!r}?" in told.error["message"], "who may use everything is told everything"


@pytest.mark.parametrize("name", [SECRET, "hidden-name", "no-such-name"])
async def test_a_model_that_is_there_and_one_that_is_not_are_refused_alike(name: str) -> None:
    beside, model = {SECRET: behaviours.answer()}, {"aliases": ("public-name", "hidden-name")}
    async with gateway_over(behaviours.answer(), beside=beside, model=model, tenants=TENANTS) as rig:
        for asked in (chat(SCOPED, model=name), get(f"/v1/models/{name}", SCOPED), get(f"/v2/models/{name}", SCOPED)):
            answer = await ask(rig.port, asked)
            assert answer.status == 403
            assert f"This key may not use the model '{name}'." in answer.body.decode()


async def test_an_alias_is_known_to_models_by_its_name() -> None:
    async with gateway_over(behaviours.answer(), model={"aliases": ("default", "big one")}, tenants=TENANTS) as rig:
        for name, path in (("default", "default"), ("big one", "big%20one")):
            answer = await ask(rig.port, get(f"/v1/models/{path}", FREE))
            assert answer.status == 200
            assert (answer.json["id"], answer.json["root"], answer.json["object"]) == (name, MODEL, "model")
        listed = await ask(rig.port, get("/v1/models", FREE))
        assert [one["id"] for one in listed.json["data"]] == [MODEL], "once, by its own name"


async def test_a_key_for_an_alias_alone_sees_it_and_not_what_it_stands_for() -> None:
    only = tenants(scoped=caller(scopes=(Scopes(models=("default",)),)))
    async with gateway_over(behaviours.answer(), model={"aliases": ("default",)}, tenants=only) as rig:
        listed = await ask(rig.port, get("/v1/models", SCOPED))
        assert [one["id"] for one in listed.json["data"]] == ["default"]
        assert MODEL.encode() not in listed.body
        one = await ask(rig.port, get("/v1/models/default", SCOPED))
        assert "root" not in one.json
        await rig.engine.close()
        refused = await ask(rig.port, chat(SCOPED, model="default"))
        assert refused.status >= 500
        assert MODEL not in refused.error["message"]
