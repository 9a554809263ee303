"""The answers of `heterodyne plan` as web pages: one file each, readable anywhere, nothing fetched."""
