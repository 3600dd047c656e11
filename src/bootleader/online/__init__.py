"""The agent a program embeds: decide, learn, save, restore."""
