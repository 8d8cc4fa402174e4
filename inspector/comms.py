"""The comm by its name in 0.1, for pages that stayed open while the package was renewed. Goes with 0.3."""
