"""The reward families, one file each: the scalar draw, and the bandit that is made of it."""
