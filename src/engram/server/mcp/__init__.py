"""The MCP door: a tool call comes in, a verb of the facade runs, its answer goes out as structured content.

Everything but `serving` is light to import: the first `tools/list` is answered before the SDK is loaded.
"""
