// SPDX-License-Identifier: GPL-2.0
/*
 * setsockopt() and getsockopt() of a socket's settings.
 *
 * The kernel hands options of IPPROTO_IP and IPPROTO_IPV6 that it does not
 * know to netfilter's list of handlers, for TCP sockets too: the one way for
 * a module to add options. No lock is held, no privilege checked, and sockets
 * of other protocols come here as well.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/uaccess.h>
#include <net/tcp.h>

#include "fl_control.h"

/* Options that are settings are in the order of enum fl_setting_id. */
#define FL_SO_SETTINGS_END	(FL_SO_PRIORITY + __FL_SET_COUNT)

static int fl_sockopt_set(struct sock *sk, int opt, sockptr_t arg,
			  unsigned int len)
{
	u32 id = opt - FL_SO_PRIORITY;
	struct fl_request rq = { };
	struct fl_sock *f;
	int err;

	if (!fl_is_tcp(sk) || opt >= FL_SO_SETTINGS_END)
		return -ENOPROTOOPT;
	if (len && len < sizeof(rq.v.val[id]))
		return -EINVAL;
	if (len && copy_from_sockptr(&rq.v.val[id], arg, sizeof(rq.v.val[id])))
		return -EFAULT;
	if (len)
		rq.v.present = BIT(id);
	else
		rq.unset = BIT(id);
	rq.v.from[id] = FL_FROM_SOCKOPT;
	rq.privileged = ns_capable(sock_net(sk)->user_ns, CAP_NET_ADMIN);

	lock_sock(sk);
	f = fl_sock_get(sk, GFP_KERNEL_ACCOUNT);
	err = f ? fl_attr_set(sk, f, &rq) : -ENOMEM;
	if (rq.changed)
		fl_attr_tell(sk, f);
	release_sock(sk);
	return err;
}

/* The value of one setting in force, as its option shows it. */
static u32 fl_info_setting(const struct fl_info *info, enum fl_setting_id id)
{
	switch (id) {
	case FL_SET_PRIORITY:
		return info->priority;
	case FL_SET_WEIGHT:
		return info->weight_milli;
	case FL_SET_BASE_RTT:
		return info->base_rtt_ns;
	case FL_SET_LINE_RATE:
		return info->line_rate_mbps;
	default:
		return info->deadline_us;
	}
}

static int fl_sockopt_get(struct sock *sk, int opt, void __user *user, int *len)
{
	struct fl_info info;
	u32 val;

	if (!fl_is_tcp(sk))
		return -ENOPROTOOPT;
	if (*len < (int)sizeof(val))
		return -EINVAL;
	lock_sock(sk);
	fl_attr_info(sk, fl_sock_find(sk), &info);
	release_sock(sk);
	if (opt == FL_SO_INFO) {
		*len = min_t(int, *len, sizeof(info));
		info.size_bytes = *len;
		return copy_to_user(user, &info, *len) ? -EFAULT : 0;
	}
	val = fl_info_setting(&info, opt - FL_SO_PRIORITY);
	*len = sizeof(val);
	return copy_to_user(user, &val, sizeof(val)) ? -EFAULT : 0;
}

static struct nf_sockopt_ops fl_sockopts[] = {
	{
		.pf = PF_INET,
		.set_optmin = FL_SO_PRIORITY,
		.set_optmax = FL_SO_END,
		.set = fl_sockopt_set,
		.get_optmin = FL_SO_PRIORITY,
		.get_optmax = FL_SO_END,
		.get = fl_sockopt_get,
		.owner = THIS_MODULE,
	},
	{
		.pf = PF_INET6,
		.set_optmin = FL_SO_PRIORITY,
		.set_optmax = FL_SO_END,
		.set = fl_sockopt_set,
		.get_optmin = FL_SO_PRIORITY,
		.get_optmax = FL_SO_END,
		.get = fl_sockopt_get,
		.owner = THIS_MODULE,
	},
};

/* Context: process, module load. Return: 0 or a negative errno. */
int fl_sockopt_init(void)
{
	int err;

	BUILD_BUG_ON(FL_SO_SETTINGS_END != FL_SO_INFO);
	err = nf_register_sockopt(&fl_sockopts[0]);
	if (err)
		return err;
	err = nf_register_sockopt(&fl_sockopts[1]);
	if (err)
		nf_unregister_sockopt(&fl_sockopts[0]);
	return err;
}

/* Context: process, module unload. */
void fl_sockopt_exit(void)
{
	nf_unregister_sockopt(&fl_sockopts[1]);
	nf_unregister_sockopt(&fl_sockopts[0]);
}
