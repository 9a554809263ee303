"""What every answer on the console's port tells a browser: run nothing but our own files, show it in no frame, tell
nobody. The server adds them, so that also what it answers by itself has them."""

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
UNUSED_POWERS = ("camera", "display-capture", "geolocation", "microphone", "payment", "serial", "usb")

SECURITY_HEADERS = (
    ("content-security-policy", CONTENT_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", ", ".join(f"{power}=()" for power in UNUSED_POWERS)),
)
