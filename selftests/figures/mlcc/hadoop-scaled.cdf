# SPDX-License-Identifier: GPL-2.0
# hadoop.cdf, sizes divided by 2.5 as the rates are.
0 0
40 0.05
120 0.30
400 0.50
1200 0.60
4000 0.70
40000 0.90
400000 0.95
4000000 1
