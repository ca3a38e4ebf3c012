"""How an electron moves in given fields: by exact segments, and by the steps of others."""
