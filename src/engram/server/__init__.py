"""The doors that are opened over a wire: REST, MCP, the proxy. Each translates, none decides."""
