"""Pure: how much a key, its project and its organisation may use, reserved before and corrected after each request."""
