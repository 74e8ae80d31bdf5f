"""Compatibility: the routes that clients of two older systems call, served by this one.

`layers/` are routes at the root (`/memories`, `/recall` …), `files/` those under `/engram/v1`. Each is a line
in its table; a function takes an `Ask`, calls the facade, and gives back plain data in that system's shape.
"""
