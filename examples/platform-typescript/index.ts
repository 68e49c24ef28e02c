// Read the plan file, which contains the fleet. The component accepts the file content as text.
import { readFileSync } from "node:fs";
import * as dra from "@pulumi/pulumi-dra";

const platform = new dra.DraPlatform("gpus", {
    plan: readFileSync("fleet.plan.json", "utf-8"),
    pools: [{ name: "l4", labels: { team: "vision" } }],
    tenants: [{ namespace: "vision", groups: ["vision-engineers"], deviceQuota: { "gpu.nvidia.com": 4 } }],
    adminAccessNamespaces: [],
    tags: { owner: "platform" },
});

export const kubeconfig = platform.kubeconfigJson;
export const poolMaxNodes = platform.poolMaxNodes;
