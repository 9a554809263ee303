"""The engine dialects by name: a new engine is a file and a line here."""

from heterodyne.engines.llamacpp import LlamaCppDialect
from heterodyne.engines.openai import OpenAIDialect
from heterodyne.ports.engine import EngineDialect

DIALECTS: dict[str, EngineDialect] = {dialect.name: dialect for dialect in (LlamaCppDialect(), OpenAIDialect())}
