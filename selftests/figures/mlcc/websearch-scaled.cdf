# SPDX-License-Identifier: GPL-2.0
# prioplus/websearch.cdf, sizes divided by 2.5 as the rates are.
0 0
4000 0.15
8000 0.20
12000 0.30
20000 0.40
32000 0.53
80000 0.60
400000 0.70
800000 0.80
2000000 0.90
4000000 0.97
12000000 1
