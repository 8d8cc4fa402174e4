"""Every figure a person reads of a session, counted again from the raw file by other code than ours."""
