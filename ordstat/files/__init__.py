"""Fits in files: a zip of JSON and arrays that holds values and no code; `docs/files.md` describes the format."""
