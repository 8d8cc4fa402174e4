"""Codex's rollouts."""
