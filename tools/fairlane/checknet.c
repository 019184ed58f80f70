// SPDX-License-Identifier: GPL-2.0
/* fairlane check: devices and TCP's settings in this network namespace. By ioctl,
 * since /sys/class/net need not be the namespace's.
 */
#include "tool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Interrupts later than this hide queues from PrioPlus. */
#define COALESCE_MAX_US	10
/* Slower than a datacenter's: the defaults of the profile are not for it. */
#define SLOW_MBPS	1000

/* One ethtool command on a device; false: not supported. */
static bool ethtool(int sock, const char *name, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	return !ioctl(sock, SIOCETHTOOL, &ifr);
}

static bool has_flag(int sock, const char *name, uint32_t cmd)
{
	struct ethtool_value v = { .cmd = cmd };

	return ethtool(sock, name, &v) && v.data;
}

/**
 * device_mbps() - speed of a device
 * @sock: any socket
 * @name: the device
 *
 * Return: Mbit/s, 0: it does not tell.
 */
uint32_t device_mbps(int sock, const char *name)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	uint32_t mbps;

	if (!ethtool(sock, name, &cmd))
		return 0;
	mbps = (uint32_t)cmd.speed_hi << 16 | cmd.speed;
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps;
}

static bool flag_lro(int sock, const char *name)
{
	struct ethtool_value v = { .cmd = ETHTOOL_GFLAGS };

	return ethtool(sock, name, &v) && v.data & ETH_FLAG_LRO;
}

/* What tells a speed that is no line's. */
static bool is_veth(int sock, const char *name)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	return ethtool(sock, name, &info) && !strcmp(info.driver, "veth");
}

static void check_device(int sock, const char *name)
{
	struct ethtool_coalesce co = { .cmd = ETHTOOL_GCOALESCE };
	struct ifreq ifr = { 0 };
	uint32_t mbps = device_mbps(sock, name);
	char *id = xprintf("dev %s", name), *cure;
	bool tso, gro, lro;
	int mtu;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	mtu = ioctl(sock, SIOCGIFMTU, &ifr) ? 0 : ifr.ifr_mtu;
	tso = has_flag(sock, name, ETHTOOL_GTSO);
	gro = has_flag(sock, name, ETHTOOL_GGRO);
	lro = flag_lro(sock, name);
	check_add(VERDICT_OK, id, NULL, "MTU %d, %s%s%s%s", mtu,
		  mbps ? show_rate(mbps * 1e6) : "speed unknown",
		  tso ? ", TSO" : "", gro ? ", GRO" : "", lro ? ", LRO" : "");
	if (lro) {
		cure = xprintf("ethtool -K %s lro off", name);
		check_add(VERDICT_PROBLEM, id, cure,
			  "LRO merges packets before TCP sees them: delays and ECN marks are lost");
		free(cure);
	}
	if (!mbps)
		check_add(VERDICT_NOTE, id,
			  "fairlane profile set line_rate RATE",
			  "it does not tell its speed: 10gbit is assumed");
	else if (is_veth(sock, name))
		check_add(VERDICT_NOTE, id,
			  "fairlane profile set line_rate RATE",
			  "a veth says %s whatever the slowest line behind it carries",
			  show_rate(mbps * 1e6));
	else if (mbps < SLOW_MBPS)
		check_add(VERDICT_NOTE, id,
			  "fairlane profile set fluct TIME noise TIME (a packet's time on the line or more)",
			  "at %s a packet takes longer than a default channel is wide",
			  show_rate(mbps * 1e6));
	if (ethtool(sock, name, &co) &&
	    (co.rx_coalesce_usecs > COALESCE_MAX_US ||
	     co.use_adaptive_rx_coalesce)) {
		cure = xprintf("ethtool -C %s adaptive-rx off rx-usecs %d",
			       name, COALESCE_MAX_US / 2);
		check_add(VERDICT_NOTE, id, cure,
			  "interrupts are delayed by %u us%s: that is noise in every delay sample",
			  co.rx_coalesce_usecs,
			  co.use_adaptive_rx_coalesce ? " (adaptive)" : "");
		free(cure);
	}
	free(id);
}

void check_devices(void)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *list = if_nameindex(), *i;
	int devices = 0;

	for (i = list; i && i->if_name && sock >= 0; i++) {
		struct ifreq ifr = { 0 };

		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", i->if_name);
		if (ioctl(sock, SIOCGIFFLAGS, &ifr) ||
		    !(ifr.ifr_flags & IFF_UP) || ifr.ifr_flags & IFF_LOOPBACK)
			continue;
		devices++;
		check_device(sock, i->if_name);
	}
	if (list)
		if_freenameindex(list);
	if (sock >= 0)
		close(sock);
	if (!devices)
		check_add(VERDICT_NOTE, "devices", NULL,
			  "no device but the loopback is up in this network namespace");
}

static int count_flow(const struct fairlane_flow *flow, void *arg)
{
	(void)flow;
	(*(unsigned int *)arg)++;
	return 0;
}

static void check_diag(void)
{
	unsigned int flows = 0;
	int err = fairlane_diag_dump(0xfff, count_flow, &flows);

	if (err)
		check_add(VERDICT_PROBLEM, "sock_diag", "modprobe tcp_diag",
			  "sockets cannot be listed: %s", strerror(-err));
	else
		check_add(VERDICT_OK, "sock_diag", NULL,
			  "%u sockets can be seen", flows);
}

static int count_opened(const struct fairlane_flow *flow, void *arg)
{
	*(unsigned int *)arg += !!flow->info.opens;
	return 0;
}

/* Flows that found out that they were silent for no reason: kmod/prioplus/pp_open.c. */
static void check_silence(void)
{
	unsigned int opened = 0;
	struct fairlane *f;

	if (fairlane_open(&f))
		return;
	if (!fairlane_flow_dump(f, count_opened, &opened) && opened)
		check_add(VERDICT_PROBLEM, "silence",
			  "fairlane profile set base_rtt default, or what the path has; fairlane noise, and set noise to what comes out",
			  "%u PrioPlus flows sent nothing for long: base RTT too low, channels narrower than the noise, or a higher priority's flow for seconds (flow show: opens)",
			  opened);
	fairlane_close(f);
}

/* A switch that should be on; the cure is to set it to @good. */
static void check_switch(const char *name, bool bad, int good, const char *why)
{
	char *cure = xprintf("sysctl net.ipv4.%s=%d", name, good);

	if (bad)
		check_add(VERDICT_PROBLEM, name, cure, "%s", why);
	free(cure);
}

/* Names as in Documentation/reference/sysctl.rst of the kernel: net.ipv4. */
void check_tcp(void)
{
	long timestamps = sysctl_number("/proc/sys/net/ipv4/tcp_timestamps", 1);
	long sack = sysctl_number("/proc/sys/net/ipv4/tcp_sack", 1);
	long dsack = sysctl_number("/proc/sys/net/ipv4/tcp_dsack", 1);
	long ecn = sysctl_number("/proc/sys/net/ipv4/tcp_ecn", 2);
	long moderate = sysctl_number("/proc/sys/net/ipv4/tcp_no_metrics_save", 0);

	check_diag();
	check_silence();
	check_switch("tcp_timestamps", !timestamps, 1,
		     "time stamps are off: PrioPlus cannot tell a late echo from a new one, and waits longer after each lost probe");
	check_switch("tcp_sack", !sack, 1,
		     "SACK is off: PrioPlus' probes cannot be answered in either direction");
	check_switch("tcp_dsack", !dsack, 1,
		     "D-SACK is off: probes of other hosts get no answer from this one");
	if (timestamps && sack && dsack)
		check_add(VERDICT_OK, "tcp", NULL,
			  "time stamps, SACK and D-SACK are on, ECN %s%s",
			  ecn == 1 ? "on" : ecn ? "if the peer asks" : "off",
			  moderate ? "" : ", metrics are kept per destination");
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK))
		check_add(VERDICT_NOTE, "cgroup",
			  "below \"ip netns exec\" it is hidden: fairlane -n NETNS; else boot with systemd.unified_cgroup_hierarchy=1",
			  "cgroup v2 is not at /sys/fs/cgroup: policies cannot name cgroups");
}
