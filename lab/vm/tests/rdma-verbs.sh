#!/bin/bash
# check: java lunar-rdma
# The contract of RDMA devices over verbs and the kernel's soft-RoCE; both ends are in one JVM in the guest.
set -euo pipefail
rdma_net
run_tests lunar.rdma.VerbsTest lunar.rdma.VerbsInvalidateTest
