"""The newer generation of the interface, tpc_lib_api: the same data under other names, converted both ways."""
