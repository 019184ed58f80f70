# SPDX-License-Identifier: GPL-2.0
# Flow sizes of a web search cluster, bytes and cumulative probability: the query
# and background traffic of DCTCP (SIGCOMM 2010, Figure 4), at the points that are
# in use since pFabric (SIGCOMM 2013). Mean 1.7 MB.
0 0
10000 0.15
20000 0.20
30000 0.30
50000 0.40
80000 0.53
200000 0.60
1000000 0.70
2000000 0.80
5000000 0.90
10000000 0.97
30000000 1
