"""The policies of published systems, one per module; `policies/registry.py` lists them."""
