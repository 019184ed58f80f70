// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: a buffer that the ports of a switch share; by which of them a VLAN comes.
 *
 * Each band may have bytes of its own (reserved). What it holds beyond them lies
 * in the pool: the total less everything reserved. A band may grow in the
 * pool while it uses at most alpha times what is free (Choudhury and Hahne).
 *
 * Ports find their buffer by name within a network namespace; the last to leave
 * removes it. The bytes used are one atomic per buffer, touched only by
 * packets that lie in the pool. Two ports may both see room for one packet
 * more; so a byte count is taken first and given back if it was too much.
 */
#include <linux/if_vlan.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "fabric.h"

/**
 * struct fabric_buffer - the shared buffer of a switch
 * @list: in fabric_buffers
 * @net: its namespace; compared only, never followed
 * @name: its name
 * @users: ports
 * @bytes: total
 * @reserved: bytes that bands have for themselves
 * @used: bytes used in the pool
 */
struct fabric_buffer {
	struct list_head list;
	const struct net *net;
	char name[FABRIC_BUFFER_NAME_LEN];
	unsigned int users;
	u32 bytes;
	s64 reserved;
	atomic64_t used ____cacheline_aligned_in_smp;
};

static LIST_HEAD(fabric_buffers);
/* Protects the list, users and the configuration of all buffers. */
static DEFINE_MUTEX(fabric_buffers_mutex);

/* The device by which packets of a VLAN's come, at the very bottom. Return: its index; 0: there
 * is none in the namespace, or it is no VLAN's. Context: any.
 */
int fabric_vlan_lower(struct net *net, int ifindex)
{
	const struct net_device *dev;
	int lower = 0;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (dev && is_vlan_dev(dev) &&
	    net_eq(dev_net(vlan_dev_real_dev(dev)), net))
		lower = vlan_dev_real_dev(dev)->ifindex;
	rcu_read_unlock();
	return lower;
}

/* Bytes of the pool. */
u64 fabric_buffer_pool(const struct fabric_buffer *buffer)
{
	s64 pool = (s64)READ_ONCE(buffer->bytes) - READ_ONCE(buffer->reserved);

	return pool > 0 ? pool : 0;
}

/* Bytes used of it. */
u64 fabric_buffer_used(const struct fabric_buffer *buffer)
{
	return atomic64_read(&buffer->used);
}

const char *fabric_buffer_name(const struct fabric_buffer *buffer)
{
	return buffer->name;
}

u32 fabric_buffer_bytes(const struct fabric_buffer *buffer)
{
	return buffer->bytes;
}

/**
 * fabric_buffer_get() - join a buffer, making it if need be
 * @net: namespace
 * @name: name in it
 * @bytes: total of a new one, 0: it must be there already
 * @extack: why not
 *
 * Context: process, may sleep.
 * Return: the buffer or an error pointer.
 */
struct fabric_buffer *fabric_buffer_get(struct net *net, const char *name,
					u32 bytes,
					struct netlink_ext_ack *extack)
{
	struct fabric_buffer *buffer;

	mutex_lock(&fabric_buffers_mutex);
	list_for_each_entry(buffer, &fabric_buffers, list) {
		if (buffer->net == net && !strcmp(buffer->name, name))
			goto found;
	}
	if (!bytes) {
		NL_SET_ERR_MSG_MOD(extack,
				   "no port has this buffer yet: its size is needed");
		buffer = ERR_PTR(-EINVAL);
		goto out;
	}
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer) {
		buffer = ERR_PTR(-ENOMEM);
		goto out;
	}
	buffer->net = net;
	strscpy(buffer->name, name, sizeof(buffer->name));
	buffer->bytes = bytes;
	list_add(&buffer->list, &fabric_buffers);
found:
	buffer->users++;
out:
	mutex_unlock(&fabric_buffers_mutex);
	return buffer;
}

/* Leaves a buffer. Context: process, may sleep. */
void fabric_buffer_put(struct fabric_buffer *buffer)
{
	if (!buffer)
		return;
	mutex_lock(&fabric_buffers_mutex);
	if (!--buffer->users) {
		list_del(&buffer->list);
		WARN_ON_ONCE(atomic64_read(&buffer->used) || buffer->reserved);
		kfree(buffer);
	}
	mutex_unlock(&fabric_buffers_mutex);
}

/**
 * fabric_buffer_reserve() - reserve bytes, perhaps of another total
 * @buffer: the buffer
 * @more: bytes to reserve beyond what is; negative: to give back
 * @bytes: new total, 0: as it is
 *
 * Context: process, may sleep.
 * Return: false, and nothing is changed, if there would be more reserved than
 * there is.
 */
bool fabric_buffer_reserve(struct fabric_buffer *buffer, s64 more, u32 bytes)
{
	s64 reserved;
	bool fits;

	mutex_lock(&fabric_buffers_mutex);
	reserved = buffer->reserved + more;
	fits = (!bytes && more <= 0) ||
	       reserved <= (bytes ? bytes : buffer->bytes);
	if (fits) {
		WRITE_ONCE(buffer->reserved, reserved);
		if (bytes)
			WRITE_ONCE(buffer->bytes, bytes);
	}
	mutex_unlock(&fabric_buffers_mutex);
	return fits;
}

/**
 * fabric_buffer_size_fits() - may a user state this size?
 * @buffer: the buffer
 * @bytes: the size
 * @mine: how many of its users are this one
 *
 * Context: process, may sleep.
 * Return: true if it is the buffer's size, or nobody else uses it.
 */
bool fabric_buffer_size_fits(struct fabric_buffer *buffer, u32 bytes,
			     unsigned int mine)
{
	bool fits;

	mutex_lock(&fabric_buffers_mutex);
	fits = buffer->bytes == bytes || buffer->users == mine;
	mutex_unlock(&fabric_buffers_mutex);
	return fits;
}

/* Bytes of the pool that the band uses with @more bytes in its queue. */
static u32 fabric_pool_bytes(const struct fabric_band *band, u32 more)
{
	return fabric_shared_bytes(band->fifo.bytes + band->parked_bytes + more,
				   band->reserved_bytes);
}

/**
 * fabric_buffer_charge() - make room for an arriving packet
 * @buffer: the buffer
 * @band: the packet's band, without it
 * @len: its bytes
 *
 * Context: root lock of the band's qdisc held; others may do so at once.
 * Return: false if there is no room.
 */
bool fabric_buffer_charge(struct fabric_buffer *buffer,
			  const struct fabric_band *band, u32 len)
{
	u32 after = fabric_pool_bytes(band, len);
	u32 need = after - fabric_pool_bytes(band, 0);
	s64 used;

	if (!need)
		return true;
	used = atomic64_add_return(need, &buffer->used) - need;
	if (fabric_dt_fits(fabric_buffer_pool(buffer), used, after, need,
			   band->alpha_milli))
		return true;
	atomic64_sub(need, &buffer->used);
	return false;
}

/**
 * fabric_buffer_uncharge() - bytes have left a band
 * @buffer: the buffer
 * @band: the band, without them
 * @len: how many
 */
void fabric_buffer_uncharge(struct fabric_buffer *buffer,
			    const struct fabric_band *band, u32 len)
{
	u32 need = fabric_pool_bytes(band, len) - fabric_pool_bytes(band, 0);

	if (need)
		atomic64_sub(need, &buffer->used);
}

/* Counts what is in a band already. Context: root lock held. */
void fabric_buffer_join(struct fabric_buffer *buffer,
			const struct fabric_band *band)
{
	atomic64_add(fabric_pool_bytes(band, 0), &buffer->used);
}

/* Forgets what is in a band. Context: root lock held. */
void fabric_buffer_leave(struct fabric_buffer *buffer,
			 const struct fabric_band *band)
{
	atomic64_sub(fabric_pool_bytes(band, 0), &buffer->used);
}
