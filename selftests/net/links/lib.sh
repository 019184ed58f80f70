# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Common parts of the link tests: results as KTAP, a link between the namespaces
# "a" and "b", comparisons. Sourced; lablink-ctl, linkprobe and flowgen are in PATH.

ktap_number=0
ktap_failed=0
ktap_faults=

# Prints a remark.
note()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# Notes that the test that is going on has failed, and why.
fault()
{
	note "$*"
	ktap_faults=yes
}

# Ends a test: $1 its name. Failed if there was a fault since the last one.
result()
{
	ktap_number=$((ktap_number + 1))
	if [ -z "$ktap_faults" ]; then
		echo "ok $ktap_number $*"
	else
		echo "not ok $ktap_number $*"
		ktap_failed=1
	fi
	ktap_faults=
}

# Ends a test that cannot be run here: $1 its name, $2 why.
skip()
{
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number $1 # SKIP $2"
	ktap_faults=
}

# Ends the script.
finish()
{
	echo "1..$ktap_number"
	exit $ktap_failed
}

# Is $2 equal to $3? $1 says what it is.
equal()
{
	[ "$2" = "$3" ] || fault "$1 is $2, not $3"
}

# Is $2 a whole number from $3 to $4? $1 says what it is.
between()
{
	case $2 in
	''|*[!0-9-]*)
		fault "$1 is '$2', not a number"
		return
		;;
	esac
	if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		fault "$1 is $2, not from $3 to $4"
	fi
}

# Rounded-down and rounded-up nanoseconds of $1 bytes at $2 bit/s.
floor_ns()
{
	echo $(($1 * 8 * 1000000000 / $2))
}

ceil_ns()
{
	echo $((($1 * 8 * 1000000000 + $2 - 1) / $2))
}

# Gives the end $1 (namespace) of the link its address $2 and a neighbour:
# $3 its address, $4 its MAC address.
link_end_up()
{
	printf '%s\n' "addr replace $2/24 dev e0" "link set lo up" \
		"link set e0 up" \
		"neigh replace $3 lladdr $4 dev e0 nud permanent" |
		ip -n "$1" -batch - || fault "cannot set up $1"
}

# Both ends. The kernel starts the qdiscs in a work item, soon after.
link_up()
{
	link_end_up a 10.0.0.1 10.0.0.2 02:00:00:00:00:02
	link_end_up b 10.0.0.2 10.0.0.1 02:00:00:00:00:01
	sleep 0.001
}

# Makes namespaces: only what the tests send is to be on the links.
netns_new()
{
	for ktap_netns in "$@"; do
		ip netns add "$ktap_netns"
		ip netns exec "$ktap_netns" sh -c \
			'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	done
}

# Makes namespaces "a" and "b" and a link between them; arguments: settings.
link_new()
{
	netns_new a b
	lablink-ctl add e0 netns a address 02:00:00:00:00:01 \
		peer e0 netns b address 02:00:00:00:00:02 "$@" ||
		fault "cannot make the link"
	link_up
}

# Removes all of that.
link_del()
{
	ip -n a link del e0 2>/dev/null
	ip netns del a
	ip netns del b
}

# Prints the value $2 of "lablink-ctl show" of the device e0 in $1.
setting()
{
	lablink-ctl show e0 netns "$1" | sed -n "s/^$2 //p"
}

# Runs linkprobe from a to b; its results become variables.
# shellcheck disable=SC2034 # those who source this use them
probe()
{
	sent=0 received=0 reordered='' gap_min='' gap_max='' span=''
	delay_first='' delay_min='' delay_max='' delay_mean='' released=''
	eval "$(linkprobe -f a -t b -a 10.0.0.2 "$@" || echo false)"
}

# flowgen with buffers that fill any link.
stream() { flowgen -B 67108864 -p 9001 -L 5000 "$@"; }

# Prints the value of key $2 in the first line that has it in
# "tc -s qdisc show" of e0 in namespace $1.
qdisc_stat()
{
	tc -n "$1" -s qdisc show dev e0 root |
		sed -n "s/.*$2 \([0-9]*\).*/\1/p" | head -n 1
}

if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP not root"
	exit 4
fi
for ktap_tool in ip tc awk lablink-ctl linkprobe flowgen; do
	if ! command -v "$ktap_tool" >/dev/null; then
		echo "1..0 # SKIP no $ktap_tool"
		exit 4
	fi
done
if [ ! -d /sys/module/lablink ] || [ ! -d /sys/module/labtap ]; then
	echo "1..0 # SKIP lablink and labtap are not loaded"
	exit 4
fi
echo "KTAP version 1"
# The first timers of a kernel that has just booted are a jiffy late.
sleep 0.1
