"""The commands of ``speedbook``."""
