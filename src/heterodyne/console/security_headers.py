"""Headers of every answer on the admin port: a browser runs nothing but our own files, shows the page in no frame, and
sends no referrer. The server adds them, so that what it answers by itself has them too."""

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
