"""Fits in files: a zip of one JSON document and arrays, without code; `docs/files.md` describes it."""
