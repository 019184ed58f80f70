#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317 # called by name
#
# Commands of README.md ($LINES_OF, in its order) where its reader types them, in virtual time:
#
#	ra --- rr --- rb	10 Gbit/s, base RTT 13 us, rr's port to rb is swp1
#
# On ra, but for those that name a switch's port (rr) and those of a receiver (rb). iperf3
# serves on rb. What sends for ten seconds is stopped before others that send, and at the end.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?}" "${LINES_OF:?}" "${PAGE:?}" "${SUDO:?}" "${FIRST:?}"
PATH=$SUDO:$PATH:/usr/sbin:/sbin
sender=

drop_net() { drop_nodes ra rr rb; }

net()
{
	[ ! -e /run/netns/ra ] || return 0
	three_nodes ra rr rb 10gbit '' &&
	lablink-ctl set east netns rr rate 10gbit && lablink-ctl set e0 netns rb rate 10gbit &&
	ip -n rr link set east down && ip -n rr link set east name swp1 && ip -n rr link set swp1 up || return 1
	in_ns rb iperf3 -s > /dev/null 2>&1 &
	sleep 0.1
	in_ns ra bash -c ': <> /dev/tcp/10.0.2.1/1' 2> /dev/null
	# modprobe finds the modules as on a host where they are installed
	mkdir -p "/run/root/lib/modules/$(uname -r)" && cp "$MODULES"/*.ko "/run/root/lib/modules/$(uname -r)/" &&
	depmod -b /run/root 2> /run/out && export MODPROBE_OPTIONS='-d /run/root' || return 1
	# and so does the kernel, for tc
	printf '#!/bin/sh\nexec /sbin/modprobe -d /run/root "$@"\n' > /run/modprobe && chmod +x /run/modprobe &&
		echo /run/modprobe > /proc/sys/kernel/modprobe
}

stop_sender()
{
	[ -n "$sender" ] || return 0
	kill "$sender" && wait "$sender"
	ip netns pids ra | xargs -r kill
	sender=
	sleep 0.05
} 2> /dev/null

# Starts what sends for long; after a while it has a flow with the control that it names, which
# has sent.
start_sender()
{
	local cc

	stop_sender
	in_ns ra bash -c "$1" > /run/out 2>&1 &
	sender=$!
	sleep 0.02
	cc=$(sed -n 's/.*--cc \([a-z0-9-]*\).*/\1/p' <<< "$1")
	expect "$1: flows with its control" "$(fairlane -n ra -j flow show dport 5201 cc "$cc" | jq length)" -ge 1
	expect "$1: bytes" "$(in_ns ra ss -tniH dst 10.0.2.1 | grep -o 'bytes_acked:[0-9]*' | cut -d: -f2 | sort -n | tail -n 1)" -ge 1000000
}

# The whole of the command $2 in the namespace $1.
type_in()
{
	in_ns "$1" timeout 100 bash -c "$2" > /run/out 2>&1 || fault "exit status $?: $(head -c 1000 /run/out)"
}

# Is the line $1, with numbers as they come and "..." for any, in what was printed last?
was_said()
{
	local pattern

	pattern=$(sed -e 's/[][().*^$/+?{}|\\]/\\&/g' -e 's/[0-9][0-9]*\(\\\.[0-9]*\)*/[0-9.]+/g' -e 's/ *\\\.\\\.\\\. */.*/g' -e 's/ bbr/ .*bbr/' <<< "$1")
	grep -qE -- "$pattern" /run/out || fault "nothing fits $pattern: $(grep prioplus /run/out)"
}

type_line()
{
	local line=$1

	line=${line#here}
	line=${line#[#$] }
	case $line in
	there\$*)	in_ns rb timeout 60 bash -c "${line#there\$ }" > /dev/null 2>&1 & sleep 0.01 ;;
	*iperf3\ -c*)	start_sender "$line" ;;
	*'noise measure'*) stop_sender; type_in ra "$line" ;;
	*swp1*)		type_in rr "$line" ;;
	*telemetry=2*)	type_in rb "$line" ;;
	*'fairlane weight'*)
		# it goes on until it is stopped
		in_ns ra timeout 0.05 bash -c "$line" > /run/out 2>&1
		expect "exit status of $line" $? -eq 124 ;;
	*ss\ -ti*)	start_sender 'fairlane run --cc prioplus --prio 5 -- iperf3 -c 10.0.2.1'; type_in ra "$line" ;;
	*)		type_in ra "$line" ;;
	esac
}

test_page_c()
{
	"$PAGE" > /run/out 2>&1 || fault "the page's C: $? $(cat /run/out)"
}

trap 'stop_sender; drop_net' EXIT
sleep 0.01
names=() lines=()
while IFS=$'\t' read -r kind line; do
	n=${#lines[@]}
	lines+=("$line")
	if [ "$kind" = said ]; then
		eval "test_line_$n() { was_said \"\${lines[$n]}\"; }"
	else
		eval "test_line_$n() { echo \"# \${lines[$n]}\"; type_line \"\${lines[$n]}\"; }"
	fi
	names+=("line_$n")
	# the control is there then
	[[ $line != *tcp_congestion_control=prioplus* ]] || names+=(page_c)
done < "$LINES_OF"
run_tests "$FIRST" "${names[@]}"
