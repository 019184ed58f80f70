# SPDX-License-Identifier: GPL-2.0
# Noise of delay measurements (PrioPlus, Figure 7): us, cumulative probability.
0 0
0.182 0.5
0.353 0.9
0.527 0.99
0.82 0.9985
0.876 1
