#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317 # awk; words; called by name
#
# HPCC on live sockets, in virtual time:
#
#	ha --- hr --- hb	1 Gbit/s from hr to hb, sch_fabric stamps there
#
# Names of tests as arguments select. Needs root, lablink, sch_fabric, ip, tc, jq
# and, in PATH, flowgen and lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
# Payload that 1 Gbit/s takes in a ms: segments of 1440 bytes, 1538 on the line.
LINE_BYTES_MS=117035

drop_net() { drop_nodes ha hr hb; }

# A fresh topology.
net()
{
	three_nodes ha hr hb 10gbit '' || return 1
	in_ns ha sysctl -q -w net.fairlane.line_rate_mbps=1000
	stamp load
	# Address resolution done before anything is timed.
	flowgen -f ha -t hb -a 10.0.2.1 -c cubic -b 1000 > /dev/null &&
	flowgen -f ha -t hb -a fd00:2::1 -c cubic -b 1000 > /dev/null
}

# What the port towards hb stamps.
stamp() { tc -n hr qdisc replace dev east root handle 1: fabric limit 1mb stamp "$@"; }

# flowgen from ha to hb with $1 flows and events; its report is /run/a.
flows()
{
	n=$1
	shift
	flowgen -f ha -t hb -a "${to:-10.0.2.1}" -c hpcc -n "$n" "$@" > /run/a 2> /run/errors || fault "$(cat /run/errors)"
}

# The sum of $2 of all flows at mark $1.
all() { awk -v m="$1" -v w="$2" '$2 == m { for (i = 5; i < NF; i++) if ($i == w) x += $(i + 1) } END { print x + 0 }' /run/a; }
drops() { tc -n hr -s -j qdisc show dev east | jq '.[0].drops'; }
told() { in_ns "$1" awk -v c="$2" '$1 == c { print $2 }' /proc/net/fairlane_telemetry; }

# used FROM UNTIL PERMILLE: from one mark to the next the line carried so much
used()
{
	expect "line from $1 to $2 ms, permille" \
		$((1000 * $(all "$2" bytes) / (($2 - $1) * LINE_BYTES_MS))) -ge "$3"
}

# fair MARK PERMILLE: each flow has that much of the mean
fair()
{
	awk -v m="$1" '$2 == m { for (i = 5; i < NF; i++) if ($i == "bytes") { x = $(i + 1); sum += x; n++; if (n == 1 || x < least) least = x } }
		END { print (n ? int(1000 * least * n / sum) : 0) }' /run/a > /run/fair
	expect "least of the mean at $1 ms, permille" "$(cat /run/fair)" -ge "$2"
}

test_both_families()
{
	for to in 10.0.2.1 fd00:2::1; do
		flows 4 100:all:mark 400:all:mark
		used 100 400 930
		fair 400 900
		expect "flows that fell back" "$(all 400 fallback)" -eq 0
	done
	to=''
	expect "echoes" "$(told ha echoes)" -ge 1000
	expect "drops" "$(drops)" -eq 0
}

# A receiver, or a path, without telemetry: Reno, visibly, and back.
test_no_telemetry()
{
	in_ns hb sysctl -q -w net.fairlane.telemetry=0
	flows 2 200:all:mark 400:all:mark
	expect "flows that fell back" "$(all 400 fallback)" -eq 2
	expect "fallbacks" "$(told ha fallbacks)" -eq 2
	used 200 400 900
	in_ns hb sysctl -q -w net.fairlane.telemetry=2
	flows 2 200:all:mark 400:all:mark
	expect "flows that fell back" "$(all 400 fallback)" -eq 0
}

# Nobody stamps, but all reflect: loads of 0. What bounds the flow is the window.
test_silent_port()
{
	stamp none
	flows 2 200:all:mark 400:all:mark
	used 200 400 950
	stamp load
}

# The other number in the same field; Söze beside it; another control in the middle.
test_mixed()
{
	stamp power
	flows 2 200:all:mark 400:all:mark
	used 200 400 850
	stamp load
	flowgen -f ha -t hb -a 10.0.2.1 -p 5200 -c soze -n 1 200:all:mark > /run/b 2> /run/errors &
	flows 1 200:all:mark
	wait
	flows 2 100:0:cc=soze 150:0:cc=reno 200:0:cc=hpcc 400:all:mark
	expect "malformed" "$(told hb bad)" -eq 0
}

# Both directions at once share segments.
test_both_ways()
{
	flowgen -f ha -t hb -a 10.0.2.1 -c hpcc -n 2 -b 5000000 -L 1000 > /run/a &
	flowgen -f ha -t hb -a 10.0.2.1 -r -p 5100 -c hpcc -n 2 -b 5000000 -L 1000 > /run/b || fault "back"
	wait
	expect "echoes at ha" "$(told ha echoes)" -ge 1000
	expect "echoes at hb" "$(told hb echoes)" -ge 1000
}

# Any number of a hostile path or peer: bounded, and the flow goes on.
test_any_load()
{
	tc -n hb qdisc replace dev e0 clsact
	for word in 0x03ff0000 0x00000000 0x3fffffff; do
		tc -n hb filter add dev e0 ingress protocol ip u32 match u32 0xfd08464d 0xffffffff at 40 \
			action pedit munge offset 44 u32 set $word pipe action csum tcp || fault "filter"
		flowgen -f ha -t hb -a 10.0.2.1 -c hpcc -b 1000000 -L 5000 > /run/a || fault "$word"
		tc -n hb filter del dev e0 ingress
	done
	tc -n hb qdisc del dev e0 clsact
}

test_settings_while_it_runs()
{
	flows 4 50:0:weight=4 100:1:weight=0.5 300:all:mark &
	for i in 500 1000 950; do
		in_ns ha sysctl -q -w net.fairlane.research.hpcc_eta_permille=$i net.fairlane.research.hpcc_flows=$((i % 9 + 1)) \
			net.fairlane.research.hpcc_stages=$((i % 7))
		sleep 0.05
	done
	wait
	expect "refused" "$(in_ns ha sysctl -w net.fairlane.research.hpcc_eta_permille=400 2>&1 | grep -c Invalid)" -eq 1
}

# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_hpcc tcp_soze || exit 1
tests=${*:-both_families no_telemetry silent_port mixed both_ways any_load settings_while_it_runs}
run_tests 1 $tests
