#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 3600
#
# plan.sh with 64 runs.

exec tests/guest/plan.sh 16
