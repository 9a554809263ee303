"""APIs whose answers pass as they are inside: OpenAI's, and the Open Inference Protocol with errors of its own."""

from typing import Final

from heterodyne.gateway import render
from heterodyne.gateway.forms.form import ClientForm

OPENAI: Final = ClientForm(render.error_body)
OPEN_INFERENCE: Final = ClientForm(render.plain_error_body)
