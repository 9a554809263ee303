"""APIs whose answers pass as they are inside: OpenAI's, and the Open Inference Protocol with errors of its own."""

from typing import Final

from heterodyne.gateway import render
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.stored_chat import StoredChatStream, kept_whole

OPENAI: Final = ClientForm(render.error_body, kept_whole=kept_whole, kept_stream=StoredChatStream)
OPEN_INFERENCE: Final = ClientForm(render.plain_error_body)
