"""An endpoint picker of the Gateway API Inference Extension: Envoy forwards, we say where to (ext-proc over gRPC)."""
