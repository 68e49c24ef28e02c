module dra-conformance/allocation

go 1.26.0
