"""The notebook on collisions of electrons in air."""
