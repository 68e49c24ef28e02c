module example.com/gpu-platform

go 1.24

require (
	github.com/pulumi/pulumi-dra/sdk/go/pulumi-dra v0.0.0
	github.com/pulumi/pulumi/sdk/v3 v3.259.0
)

replace github.com/pulumi/pulumi-dra/sdk/go/pulumi-dra => ./sdks/pulumi-dra
