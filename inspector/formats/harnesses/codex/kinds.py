"""Types of rows of a Codex rollout that are not items: events and bookkeeping (FORMATS §1)."""

from __future__ import annotations

EVENTS = frozenset(
    [
        *("task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted", "user_message"),
        *("agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break"),
        *("token_count", "context_compacted", "thread_rolled_back", "thread_name_updated"),
        *("thread_settings_applied", "entered_review_mode", "exited_review_mode", "patch_apply_begin"),
        *("patch_apply_end", "exec_command_begin", "exec_command_end", "mcp_tool_call_begin"),
        *("mcp_tool_call_end", "web_search_begin", "web_search_end", "image_generation_end"),
        *("view_image_tool_call", "item_completed", "error", "warning", "stream_error", "background_event"),
        *("plan_update", "turn_diff", "thread_goal_updated", "collab_agent_spawn_begin"),
        *("collab_agent_spawn_end", "collab_agent_interaction_begin", "collab_agent_interaction_end"),
        *("collab_waiting_begin", "collab_waiting_end", "collab_close_begin", "collab_close_end"),
        *("dynamic_tool_call_request", "dynamic_tool_call_response", "collab_resume_begin"),
        *("collab_resume_end", "sub_agent_activity", "item_started", "hook_started", "hook_completed"),
        *("undo_started", "undo_completed", "guardian_assessment", "guardian_warning", "deprecation_notice"),
        *("model_reroute", "model_verification", "terminal_interaction", "patch_apply_updated"),
        *("image_generation_begin", "exec_approval_request", "apply_patch_approval_request"),
        *("request_user_input", "request_permissions", "elicitation_request", "plan_delta"),
        *("session_configured", "mcp_startup_update", "mcp_startup_complete", "shutdown_complete"),
        *("agent_message_content_delta", "environment_connected", "environment_disconnected"),
        *("exec_command_output_delta", "raw_response_completed", "raw_response_item"),
        *("realtime_conversation_closed", "realtime_conversation_list_voices_response"),
        *("realtime_conversation_realtime", "realtime_conversation_sdp", "realtime_conversation_started"),
        *("reasoning_content_delta", "reasoning_raw_content_delta", "safety_buffering"),
        *("thread_queue_changed", "turn_moderation_metadata"),
    ]
)
BOOKKEEPING = frozenset(
    [
        *("session_meta", "session_state", "turn_context", "world_state", "inter_agent_communication"),
        *("inter_agent_communication_metadata", "token_usage_record", "retained_context"),
        *("security_risk_score", "realtime_item"),
    ]
)
