"""What the browser is told, one file for each panel."""
