"""What llama.cpp's server shows."""
