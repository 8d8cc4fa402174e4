"""Cline's and Roo Code's sessions."""
