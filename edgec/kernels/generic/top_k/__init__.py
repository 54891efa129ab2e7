"""The largest or smallest codes of a row in plain C."""
