# SPDX-License-Identifier: GPL-2.0
# Sizes of flows, ours: many small ones, most bytes in few large; 56 kB on average.
500 0
3500 0.5
10000 0.5
30000 0.8
50000 0.8
150000 0.95
600000 0.95
600000 1
