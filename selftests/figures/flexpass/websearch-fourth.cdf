# SPDX-License-Identifier: GPL-2.0
# Sizes of web search flows (prioplus/websearch.cdf), a fourth of them: bytes and cumulative
# probability.
0 0
2500 0.15
5000 0.20
7500 0.30
12500 0.40
20000 0.53
50000 0.60
250000 0.70
500000 0.80
1250000 0.90
2500000 0.97
7500000 1
