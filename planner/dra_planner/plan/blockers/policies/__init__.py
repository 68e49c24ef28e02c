"""ValidatingAdmissionPolicies, evaluated on the objects and pods that manifests create.

requests the objects that the API server asks policies about, with their defaults matching whether a
policy and its binding apply to an object evaluation the result of a policy denials the findings
"""
