# SPDX-License-Identifier: GPL-2.0
# bytes, cumulative probability
1000 0
10000 0.6
100000 0.9
1000000 1
