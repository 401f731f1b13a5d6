"""The hash chain: read and hashed once from its first entry to its last; only what breaks is looked at again."""
