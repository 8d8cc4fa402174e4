"""toolcalls"""
