"""OpenHands' conversations."""
