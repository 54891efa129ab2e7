"""Maximum over a sliding window in plain C."""
