"""Flow through the pores of a voxel image (porous paper, chapter 5)."""
