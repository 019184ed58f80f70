#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2034,SC2086,SC2154,SC2317 # awk; lib/guided.sh has the other half; words; called by name
#
# HPCC on live sockets, in virtual time, or the control $CC with ports that stamp $STAMP, of whose
# flows each has $FAIR permille of the mean;
# lib/guided.sh has the topology. Names of tests as arguments select,
# without them $LEAVE has those to leave out. $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
cc=${CC:-hpcc}
stamp=${STAMP:-load}
# shellcheck disable=SC1091 # likewise
. "${LIB%/*}/guided.sh"

# even MARK PERMILLE: each flow has that much of the mean
even()
{
	awk -v m="$1" '$2 == m { for (i = 5; i < NF; i++) if ($i == "bytes") { x = $(i + 1); sum += x; n++; if (n == 1 || x < least) least = x } }
		END { print (n ? int(1000 * least * n / sum) : 0) }' /run/a > /run/fair
	expect "least of the mean at $1 ms, permille" "$(cat /run/fair)" -ge "$2"
}

test_both_families()
{
	for to in 10.0.2.1 fd00:2::1; do
		flows 4 100:all:mark 400:all:mark
		full 400 300 930
		even 400 ${FAIR:-900}
		expect "flows that fell back" "$(all 400 fallback)" -eq 0
	done
	to=''
	expect "echoes" "$(told ta echoes)" -ge 1000
	expect "drops" "$(drops)" -eq 0
}

# Nobody stamps, but all reflect: loads of 0. What bounds the flow is the window.
test_silent_port()
{
	fabric stamp none
	flows 2 200:all:mark 400:all:mark
	full 400 200 950
	fabric stamp $stamp
}

# The other number in the same field; Söze beside it; another control in the middle.
test_mixed()
{
	other=power
	[ $stamp = load ] || other=load
	fabric stamp $other
	flows 2 200:all:mark 400:all:mark
	full 400 200 850
	fabric stamp $stamp
	flowgen -f ta -t tb -a 10.0.2.1 -p 5200 -c soze -n 1 200:all:mark > /run/b 2> /run/errors &
	flows 1 200:all:mark
	wait
	flows 2 100:0:cc=soze 150:0:cc=reno 200:0:cc=$cc 400:all:mark
	expect "malformed" "$(told tb bad)" -eq 0
}

# Both directions at once share segments.
test_both_ways()
{
	flowgen -f ta -t tb -a 10.0.2.1 -c $cc -n 2 -b 5000000 -L 1000 > /run/a &
	flowgen -f ta -t tb -a 10.0.2.1 -r -p 5100 -c $cc -n 2 -b 5000000 -L 1000 > /run/b || fault "back"
	wait
	expect "echoes at ta" "$(told ta echoes)" -ge 1000
	expect "echoes at tb" "$(told tb echoes)" -ge 1000
}

# Any number of a hostile path or peer: bounded, and the flow goes on.
test_any_load()
{
	tc -n tb qdisc replace dev e0 clsact
	for word in 0x03ff0000 0x00000000 0x3fffffff; do
		tc -n tb filter add dev e0 ingress protocol ip u32 match u32 0xfd08464d 0xffffffff at 40 \
			action pedit munge offset 44 u32 set $word pipe action csum tcp || fault "filter"
		flowgen -f ta -t tb -a 10.0.2.1 -c $cc -b 1000000 -L 5000 > /run/a || fault "$word"
		tc -n tb filter del dev e0 ingress
	done
	tc -n tb qdisc del dev e0 clsact
}

test_settings_while_it_runs()
{
	flows 4 50:0:weight=4 100:1:weight=0.5 300:all:mark &
	for i in 500 1000 950; do
		in_ns ta sysctl -q -w net.fairlane.research.hpcc_eta_permille=$i net.fairlane.research.hpcc_flows=$((i % 9 + 1)) \
			net.fairlane.research.hpcc_stages=$((i % 7))
		sleep 0.05
	done
	wait
	expect "refused" "$(in_ns ta sysctl -w net.fairlane.research.hpcc_eta_permille=400 2>&1 | grep -c Invalid)" -eq 1
}

# steady_train FLOWS LEAST MOST: segments in the largest packet when the first round trips are over.
steady_train()
{
	flows "$1" 100:all:mark &
	sleep 0.06
	largest_train 1440 > /run/none
	sleep 0.03
	train=$(largest_train 1440)
	expect "segments in the largest packet, $1 flows" "$train" -ge "$2"
	expect "segments in the largest packet, $1 flows" "$train" -le "$3"
	wait
}

# A train is what the flow sends in a sixteenth of the RTT, of 2 ms here, and at least what waits
# half of the noise, or what the setting says; without telemetry, and with another control, as long
# as the device allows.
test_trains()
{
	noise_ns=$(in_ns ta sysctl -n net.fairlane.noise_ns)
	watch_trains ta tr tb
	in_ns ta sysctl -q -w net.fairlane.base_rtt_ns=2000000
	steady_train 1 8 12
	steady_train 4 2 4
	in_ns ta sysctl -q -w net.fairlane.noise_ns=200000
	steady_train 4 8 9
	in_ns ta sysctl -q -w net.fairlane.research.gso_segs=16
	steady_train 4 15 16
	in_ns ta sysctl -q -w net.fairlane.noise_ns="$noise_ns" net.fairlane.research.gso_segs=0
	in_ns tb sysctl -q -w net.fairlane.telemetry=0
	flows 1 100:all:mark
	expect "segments in the largest packet without telemetry" "$(largest_train 1440)" -ge 16
	in_ns tb sysctl -q -w net.fairlane.telemetry=2
	in_ns ta sysctl -q -w net.fairlane.base_rtt_ns=0
	watch_trains
}

# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_$cc tcp_soze || exit 1
tests=${*:-both_families questions no_telemetry silent_port mixed both_ways any_load jitter longer_route untold_queue short_untold_queue policer trains settings_while_it_runs}
[ $# -gt 0 ] || for name in ${LEAVE:-}; do
	tests=$(echo " $tests " | sed "s/ $name / /")
done
run_tests 1 $tests
