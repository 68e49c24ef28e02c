// Build a platform from a plan file, which contains the fleet.
package main

import (
	"os"

	dra "example.com/pulumi-pulumi-dra/sdk/go/pulumi-dra"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		plan, err := os.ReadFile("fleet.plan.json")
		if err != nil {
			return err
		}
		platform, err := dra.NewDraPlatform(ctx, "gpus", &dra.DraPlatformArgs{
			Plan: string(plan),
			Tags: pulumi.StringMap{"owner": pulumi.String("platform")},
		})
		if err != nil {
			return err
		}
		ctx.Export("kubeconfig", platform.KubeconfigJson)
		ctx.Export("poolMaxNodes", platform.PoolMaxNodes)
		return nil
	})
}
