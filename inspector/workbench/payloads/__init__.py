"""payloads"""
