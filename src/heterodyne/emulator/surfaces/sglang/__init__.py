"""What SGLang's server shows."""
