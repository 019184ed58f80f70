# SPDX-License-Identifier: GPL-2.0
# Sizes of remote procedure calls: bytes, cumulative probability.
# The distribution that the paper used is not in its text. This is ours, after what
# is publicly known of such traffic: half of the calls are a few hundred bytes, nine
# of ten below 2 KB, one of a thousand above 1 MB, and these few carry a third
# of the bytes. Mean 9.0 KB.
32 0
64 0.10
128 0.25
256 0.45
512 0.70
1024 0.82
2048 0.90
4096 0.935
16384 0.965
65536 0.985
262144 0.995
1048576 0.999
5242880 1
