// SPDX-License-Identifier: GPL-2.0
/*
 * A fat-tree: k pods of k/2 edge and k/2 aggregation switches, k/2 hosts at each
 * edge switch, (k/2)^2 core switches. Each of its six layers of directed links
 * (host to edge, edge to host, edge to aggregation and back, aggregation to core
 * and back) has as many links as there are hosts.
 */
#include "tree.h"

enum { UP_HOST, DOWN_HOST, UP_EDGE, DOWN_EDGE, UP_AGG, DOWN_AGG, LAYERS };

/* Return: 0; -1 if k is odd or out of range. */
int tree_init(struct tree *t, uint32_t k)
{
	if (k < 2 || k % 2 || k > TREE_K_MAX)
		return -1;
	t->k = k;
	t->hosts = k * k * k / 4;
	t->links = LAYERS * t->hosts;
	return 0;
}

static uint16_t link_of(const struct tree *t, int layer, uint32_t a, uint32_t b,
			uint32_t c)
{
	uint32_t half = t->k / 2;

	return layer * t->hosts + (a * half + b) * half + c;
}

/**
 * tree_path() - the links from one host to another
 * @t: the tree
 * @src: number of the sending host
 * @dst: number of the other
 * @hash: chooses among equal paths, as ECMP does
 * @path: result, up to TREE_HOPS
 *
 * Return: how many links.
 */
int tree_path(const struct tree *t, uint32_t src, uint32_t dst, uint32_t hash,
	      uint16_t *path)
{
	uint32_t half = t->k / 2, square = half * half;
	uint32_t pod = src / square, edge = src / half % half;
	uint32_t to_pod = dst / square, to_edge = dst / half % half;
	uint32_t agg = hash % half, core = hash / half % half;
	int hops = 0;

	path[hops++] = UP_HOST * t->hosts + src;
	if (pod != to_pod || edge != to_edge) {
		path[hops++] = link_of(t, UP_EDGE, pod, edge, agg);
		if (pod != to_pod) {
			path[hops++] = link_of(t, UP_AGG, pod, agg, core);
			path[hops++] = link_of(t, DOWN_AGG, to_pod, agg, core);
		}
		path[hops++] = link_of(t, DOWN_EDGE, to_pod, to_edge, agg);
	}
	path[hops++] = DOWN_HOST * t->hosts + dst;
	return hops;
}
