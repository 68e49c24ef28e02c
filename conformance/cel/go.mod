// The modules of each Kubernetes minor are in mods; build with -modfile=mods/1.36.mod.
module dra.conformance/cel

go 1.24.0
