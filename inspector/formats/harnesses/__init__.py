"""Sessions as each harness keeps them: a module, or a folder, per harness."""
