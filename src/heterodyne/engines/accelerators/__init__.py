"""What exporters say of accelerators: one file per exporter."""
