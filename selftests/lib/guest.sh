# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2317 # called by name
#
# What the tests in the lab's guest share, sourced by the name in $LIB: of a clone below
# /tmp the guest sees only the folders that its command line names. Tests are functions test_NAME that
# call fault or expect, or skip_test; each gets a fresh topology from net(), which the script
# defines and drop_net() removes. Most have this one, of three_nodes():
#
#	LEFT --- ROUTER --- RIGHT	e0 of LEFT and RIGHT, west and east of ROUTER
#
# Needs root and ip; three_nodes the module lablink and, in PATH, lablink-ctl.

# For messages, also from inside a command substitution.
exec 9>&1
fault_mark=/run/fault
skip_mark=/run/skip

# Notes that the present test has failed, and why.
fault()
{
	printf '%s\n' "$*" | sed 's/^/# /' >&9
	: > $fault_mark
}

# Notes that the present test cannot run here, and why. A fault counts more.
skip_test() { printf '%s\n' "$*" > $skip_mark; }

# expect WHAT VALUE OP WANT
expect()
{
	[ $# -eq 4 ] || fault "expect has $# words: $*"
	test "$2" "$3" "$4" || fault "$1: \"$2\", expected $3 \"$4\""
}

# between WHAT VALUE LEAST MOST
between() { expect "$1" "$2" -ge "$3" && expect "$1" "$2" -le "$4"; }

in_ns() { ns=$1; shift; ip netns exec "$ns" "$@"; }

# Counter $2 of the stack in namespace $1.
counter() { in_ns "$1" nstat -asz "$2" 2> /dev/null | awk -v c="$2" '$1 == c { print $2 }'; }

# Value after the word $1 in the last line of flow $2 in flowgen's report $3.
field() { awk -v w="$1" -v f="$2" '$1 == "flow" && $2 == f { for (i = 3; i < NF; i++) if ($i == w) print $(i + 1) }' "$3"; }

# mark_bytes FILE N: what flow 0 has received until the Nth mark, and since the one before.
mark_bytes() { awk -v n="$2" '$1 == "mark" && ++i == n { for (k = 2; k < NF; k++) if ($k == "bytes") print $(k + 1) }' "$1"; }

# Each line of flowgen's report in file $1: complete, no gap above $2 us. $cc: whose flows.
complete()
{
	while read -r _ n _ received _ longest _ end _ _ _ state; do
		what="flow $n of ${cc:-prioplus} ($received bytes, the last at $end us)"
		expect "$what" "$state" = 'done'
		expect "longest gap of $what, us" "$longest" -le "$2"
	done < "$1"
	[ -s "$1" ] || fault "no flows in $1"
}

# Counter $2 of telemetry in namespace $1.
told() { in_ns "$1" awk -v c="$2" '$1 == c { print $2 }' /proc/net/fairlane_telemetry; }

# Loads those of the modules $* that are not there yet, each after what it needs of
# ours; $MODULES is their folder.
load_modules()
{
	for m in "$@"; do
		! grep -q "^$m " /proc/modules || continue
		for need in $(/sbin/modinfo -F depends "$MODULES/$m.ko" | tr ',' ' '); do
			[ ! -e "$MODULES/$need.ko" ] || (load_modules "$need") || return 1
		done
		insmod "$MODULES/$m.ko" || return 1
	done
}

# Removes the module $1, trying up to $2 times with a pause of $3 seconds: sockets
# end in the background.
remove_module()
{
	tries=0
	until rmmod "$1" 2> /dev/null; do
		tries=$((tries + 1))
		[ $tries -lt "$2" ] || return 1
		sleep "$3"
	done
}

# remove_under_sockets CC MODULE...: CC's flows get another control, then these modules and
# fairlane go while the sockets live on, and come back. Uses flow() and load() of the script.
remove_under_sockets()
{
	flow -c "$1" -n 4 -b -1 -S cubic@1@10000 -L 200 > /run/a &
	sleep 0.05
	shift
	for m in "$@"; do
		remove_module "$m" 100 0.001
	done
	rmmod fairlane || fault "not removed under live sockets: $(lsmod)"
	wait
	expect "bytes of cubic afterwards" "$(field received 0 /run/a)" -ge 2000000
	load || fault "not loaded again"
}

# Removes the namespaces $*, of which there need not be any, and ends what runs there: a
# process that stays would keep the namespace, its sockets and the modules that they use.
drop_nodes()
{
	for n in "$@"; do
		[ -e "/var/run/netns/$n" ] || continue
		ip netns pids "$n" | xargs -r kill -KILL
		ip netns del "$n"
	done 2> /dev/null
}

# Gives e0 of the host $1 the addresses of network $2; $3: attributes of its routes.
host_address()
{
	# shellcheck disable=SC2086 # words
	ip -n "$1" link set e0 up &&
	ip -n "$1" addr add "10.0.$2.1/24" dev e0 &&
	ip -n "$1" addr add "fd00:$2::1/64" dev e0 nodad &&
	ip -n "$1" route add default via "10.0.$2.254" ${3-} &&
	ip -n "$1" route add default via "fd00:$2::fe" ${3-}
}

# nodes NAME...: fresh namespaces that forward. Link-local addresses serve at once: until they do
# a router asks for no neighbour, and gives up after three seconds.
nodes()
{
	drop_nodes "$@"
	printf 'netns add %s\n' "$@" | ip -batch - || return 1
	# receivers reflect whatever their congestion control is, if the test has not set another telemetry
	reflect=
	[ ! -e /proc/sys/net/fairlane/telemetry ] || reflect=net.fairlane.telemetry=${telemetry:-2}
	for n in "$@"; do
		ip -n "$n" link set lo up || return 1
		in_ns "$n" sysctl -q -w net.ipv4.ip_forward=1 \
			net.ipv6.conf.all.forwarding=1 \
			net.ipv6.conf.default.accept_dad=0 \
			net.ipv4.tcp_no_metrics_save=1 ${reflect:+"$reflect"}
	done
}

# lose_some NAMESPACE DEVICE PERCENT: what the device sends of TCP's packets is lost at random, but
# no SYN and no SYN-ACK: a handshake that a timer repeats gives a first RTT of a second, and with
# any control a first timeout of three. IPv4 without options: byte 33 has the flags.
lose_some()
{
	tc -n "$1" qdisc replace dev "$2" root handle 7: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc -n "$1" qdisc replace dev "$2" parent 7:2 netem limit 10000 loss random "$3%" &&
	tc -n "$1" filter add dev "$2" parent 7: protocol ip u32 match ip protocol 6 0xff \
		match u8 0x10 0x12 at 33 flowid 7:2
}

# police NAMESPACE DEVICE MBPS: what exceeds that rate is lost and does not wait; 32 kB at once pass,
# and one packet waits: a policer, which the lab's kernel has not.
police() { tc -n "$1" qdisc replace dev "$2" root handle 3: tbf rate "$3mbit" burst 32k limit 1600; }

# lost NAMESPACE DEVICE: packets that lose_some() has lost there.
lost() { tc -n "$1" -s -j qdisc show dev "$2" | jq '[.[] | select(.kind == "netem").drops] | add'; }

# three_nodes LEFT ROUTER RIGHT RATE ROUTE: fresh namespaces; RATE (lablink's words)
# from LEFT to ROUTER and back, 1 Gbit/s from ROUTER to RIGHT and back, 2 us each.
# ROUTE: attributes of the hosts' routes.
three_nodes()
{
	nodes "$1" "$2" "$3" || return 1
	lablink-ctl add e0 netns "$1" peer west netns "$2" rate "$4" delay 2us &&
	lablink-ctl add east netns "$2" peer e0 netns "$3" rate 1gbit delay 2us &&
	host_address "$1" 1 "$5" && host_address "$3" 2 "$5" &&
	ip -n "$2" link set west up && ip -n "$2" link set east up &&
	ip -n "$2" addr add 10.0.1.254/24 dev west &&
	ip -n "$2" addr add 10.0.2.254/24 dev east &&
	ip -n "$2" addr add fd00:1::fe/64 dev west nodad &&
	ip -n "$2" addr add fd00:2::fe/64 dev east nodad
}

# run_tests FIRST NAME...: runs the tests, the first of which has the number FIRST;
# KTAP, the plan at the end. False if one has failed; then show_state(), if the
# script has it, says what the topology looks like.
run_tests()
{
	number=$(($1 - 1)) failed=0
	shift
	[ $number -gt 0 ] || echo "KTAP version 1"
	for name in "$@"; do
		number=$((number + 1))
		rm -f $fault_mark $skip_mark
		if ! type "test_$name" > /dev/null 2>&1; then
			fault "there is no such test"
		elif net; then
			"test_$name"
		else
			fault "no network"
		fi
		if [ -e $fault_mark ]; then
			type show_state > /dev/null 2>&1 && show_state | sed 's/^/# /'
			echo "not ok $number $name"
			failed=1
		elif [ -e $skip_mark ]; then
			echo "ok $number $name # SKIP $(cat $skip_mark)"
		else
			echo "ok $number $name"
		fi
	done
	drop_net
	echo "1..$number"
	[ $failed -eq 0 ]
}

# watch_trains FROM MIDDLE TO: of three_nodes(), which send large packets from now on. Without
# arguments: ends it.
watch_trains()
{
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	if [ $# -eq 0 ]; then
		echo 0 > /sys/kernel/tracing/events/net/net_dev_queue/enable
		return
	fi
	for end in "$1:e0" "$2:west" "$2:east" "$3:e0"; do
		lablink-ctl set "${end#*:}" netns "${end%:*}" offload on || fault "no offload at $end"
	done
	echo 1 > /sys/kernel/tracing/events/net/net_dev_queue/enable || fault "no event of devices"
}

# largest_train MSS: segments in the largest packet that has left a device e0 since the last call.
largest_train()
{
	sed -n 's/.* dev=e0 .* len=\([0-9]*\).*/\1/p' /sys/kernel/tracing/trace |
		awk -v mss="$1" '$1 > most { most = $1 } END { print int(most / mss) }'
	echo > /sys/kernel/tracing/trace
}
