"""EBS volumes of type gp3: their speed limits and their StorageClass."""

from pulumi_dra.inputs.disk_speed import SpeedLimits
from pulumi_dra.storage_class import ClassOfVolumes

GP3_SPEED = SpeedLimits(
    iops=range(3_000, 80_001),
    throughput=range(125, 2_001),
    iops_of_a_gib=500,
    iops_of_a_mib=range(4, 80_001),
)
"""EC2 API reference, LaunchTemplateEbsBlockDeviceRequest (botocore's model); rocicorp/mono pull
request 4410 (IOPS per GiB); runs-on/runs-on issue 260 (a quarter MiB/s per I/O operation).
"""
GP3_CLASS = ClassOfVolumes(
    name="gp3",
    provisioner="ebs.csi.aws.com",
    parameters={"type": "gp3", "encrypted": "true"},
    is_default=True,
)
"""From Kubernetes 1.30 on, EKS doesn't create a class. Earlier classes used another driver (EKS
user guide, “Kubernetes 1.30”). Parameters: kubernetes-sigs/aws-ebs-csi-driver:docs/parameters.md.
"""
