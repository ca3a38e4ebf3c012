"""Electrons that collide with air: cross-sections, tables, events, and ways through air."""
