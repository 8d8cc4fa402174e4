"""The payloads for the browser, one file for each panel."""
