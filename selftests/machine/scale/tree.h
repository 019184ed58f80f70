/* SPDX-License-Identifier: GPL-2.0 */
/* A fat-tree of k ports a switch: numbers of its directed links, paths. */
#ifndef SCALE_TREE_H
#define SCALE_TREE_H

#include <stdint.h>

#define TREE_HOPS	6
#define TREE_K_MAX	34	/* so that a link's number has 16 bits */

struct tree {
	uint32_t k, hosts, links;
};

int tree_init(struct tree *t, uint32_t k);
int tree_path(const struct tree *t, uint32_t src, uint32_t dst, uint32_t hash,
	      uint16_t *path);

#endif
