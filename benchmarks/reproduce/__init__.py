"""The papers' tables, run again: `make reproduce TABLE=4.2 SPLITS=20`."""
