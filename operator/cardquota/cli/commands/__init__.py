"""The commands that only read, a file each, apart from `check` and `simulate`."""
