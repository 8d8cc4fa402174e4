"""Gemini CLI's and Qwen Code's chats."""
