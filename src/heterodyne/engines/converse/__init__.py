"""Amazon Bedrock's Converse API as an engine."""
