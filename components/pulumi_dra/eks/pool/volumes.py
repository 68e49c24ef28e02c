"""EBS volumes of type gp3: how fast one can be, and the class of them that pods find."""

from pulumi_dra.inputs.disk_speed import SpeedLimits
from pulumi_dra.storage_class import ClassOfVolumes

GP3_SPEED = SpeedLimits(
    iops=range(3_000, 80_001),
    throughput=range(125, 2_001),
    iops_of_a_gib=500,
    iops_of_a_mib=range(4, 80_001),
)
"""EC2 API reference, LaunchTemplateEbsBlockDeviceRequest (botocore's model); rocicorp/mono pull
request 4410 (operations of a GiB); runs-on/runs-on issue 260 (a fourth of a MiB for each
operation).
"""
GP3_CLASS = ClassOfVolumes(
    name="gp3",
    provisioner="ebs.csi.aws.com",
    parameters={"type": "gp3", "encrypted": "true"},
    is_default=True,
)
"""From Kubernetes 1.30 on EKS makes no class, and none was of this driver (EKS user guide,
“Kubernetes 1.30”). Parameters: kubernetes-sigs/aws-ebs-csi-driver:docs/parameters.md.
"""
