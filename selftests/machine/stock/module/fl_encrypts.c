// SPDX-License-Identifier: GPL-2.0
/*
 * Instead of a device that encrypts (kTLS): setsockopt(TCP_ULP, "fl_encrypts") has what a
 * socket sends looked at on its way to the device. Segments of one byte, which a probe
 * has, are counted, see the parameter, and dropped, as a device would that does not know
 * them.
 */
#include <linux/module.h>
#include <net/tcp.h>

static uint fl_encrypts_seen;
module_param_named(seen, fl_encrypts_seen, uint, 0444);
MODULE_PARM_DESC(seen, "segments of one byte that have been dropped");

static struct sk_buff *fl_encrypts_look(struct sock *sk, struct net_device *dev,
					struct sk_buff *skb)
{
	if (skb->len - skb_tcp_all_headers(skb) != 1)
		return skb;
	fl_encrypts_seen++;
	kfree_skb(skb);
	return NULL;
}

static int fl_encrypts_init(struct sock *sk)
{
	sk->sk_validate_xmit_skb = fl_encrypts_look;
	return 0;
}

static void fl_encrypts_release(struct sock *sk)
{
	sk->sk_validate_xmit_skb = NULL;
}

static struct tcp_ulp_ops fl_encrypts_ulp = {
	.name = "fl_encrypts",
	.owner = THIS_MODULE,
	.init = fl_encrypts_init,
	.release = fl_encrypts_release,
};

static int __init fl_encrypts_load(void)
{
	return tcp_register_ulp(&fl_encrypts_ulp);
}

static void __exit fl_encrypts_unload(void)
{
	tcp_unregister_ulp(&fl_encrypts_ulp);
}

module_init(fl_encrypts_load);
module_exit(fl_encrypts_unload);
MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("A stand-in for a device that encrypts what a socket sends");
MODULE_LICENSE("GPL");
