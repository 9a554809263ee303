"""An emulated engine: speaks the HTTP of a real one, answers at the speed physics gives, fails on demand."""
