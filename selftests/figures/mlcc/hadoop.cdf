# SPDX-License-Identifier: GPL-2.0
# Flow sizes of Hadoop, bytes and cumulative probability: what Roy et al. (SIGCOMM 2015, section
# 5.1) say in words, straight lines between: the median is below 1 kB, 70 % are below 10 kB,
# less than 5 % above 1 MB; cut at 10 MB. Mean 0.3 MB. The paper that has MLCC does not print
# its own.
0 0
100 0.05
300 0.30
1000 0.50
3000 0.60
10000 0.70
100000 0.90
1000000 0.95
10000000 1
