#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2034,SC2086,SC2154,SC2317 # awk; lib/guided.sh has the other half; words; called by name
#
# MLCC's sender on live sockets, in virtual time; lib/guided.sh has the topology. Names of
# tests as arguments select. $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
cc=mlcc
stamp=load
# shellcheck disable=SC1091 # likewise
. "${LIB%/*}/guided.sh"

# Halves of the option: of the forward one a load over 32 us, of the reverse one a rate.
NEAR_HALF=0x8980 NEAR_4=0x8b00 OPEN=0x0000
TELL_100MBIT=dcfa TELL_MOST=ffff

# From now on ACKs that come to ta have the two halves $1 and $2, hexadecimal.
border()
{
	tc -n ta qdisc replace dev e0 clsact || fault "clsact"
	tc -n ta filter replace dev e0 ingress pref 1 handle 800::800 protocol ip u32 \
		match u32 0xfd08464d 0xffffffff at 40 \
		action pedit munge offset 44 u32 set "$1$2" pipe action csum tcp || fault "filter"
}

no_border() { tc -n ta qdisc del dev e0 clsact; }

# Without a border router: HPCC.
test_end_to_end()
{
	for to in 10.0.2.1 fd00:2::1; do
		flows 4 100:all:mark 400:all:mark
		full 400 300 930
		expect "flows that fell back" "$(all 400 fallback)" -eq 0
	done
	to=''
	expect "drops" "$(drops)" -eq 0
}

# The rate that the far border router asks for is not exceeded, and is used.
test_told_rate()
{
	border $OPEN $TELL_100MBIT
	flows 1 200:all:mark 400:all:mark
	full 400 200 90
	expect "used, permille of ten times the rate told" "$used" -le 101
	expect "flows that fell back" "$(all 400 fallback)" -eq 0
	# two flows have it each
	flows 2 200:all:mark 400:all:mark
	full 400 200 180
}

# The load of the way to the own border router steers the flow below that rate.
test_near_load()
{
	border $NEAR_HALF $TELL_MOST
	flows 1 200:all:mark 400:all:mark
	full 400 200 950
	border $NEAR_4 $TELL_MOST
	flows 1 200:all:mark 400:all:mark
	full 400 200 1
	expect "used, permille" "$used" -le 300
	border $NEAR_HALF $TELL_100MBIT
	flows 1 200:all:mark 400:all:mark
	full 400 200 90
	expect "used, permille of ten times the rate told" "$used" -le 101
}

# Nobody tells of the way to the border, and the port behind it is full: losses do.
test_no_near_load()
{
	fabric limit 100kb
	border $OPEN $TELL_MOST
	flows 2 400:all:mark 800:all:mark
	full 800 400 900
	expect "flows that fell back" "$(all 800 fallback)" -eq 0
	expect "retransmissions, permille" "$(($(all 800 retrans) * 1440000 / $(all 800 bytes)))" -le 50
}

# A border router that comes and goes while flows run.
test_border_comes_and_goes()
{
	flows 1 200:all:mark 400:all:mark 600:all:mark 700:all:mark 900:all:mark > /run/out &
	sleep 0.3
	border $OPEN $TELL_100MBIT
	sleep 0.3
	no_border
	wait
	full 200 200 800
	expect "bytes of the slow time" "$(all 600 bytes)" -le $((LINE_BYTES_MS * 110))
	full 900 200 900
	expect "flows that fell back" "$(all 900 fallback)" -eq 0
}

# Any words of a hostile path or peer: bounded, and the flow goes on.
test_any_word()
{
	for word in 0x8000c000 0x83ffffff 0xbfffc000 0xffffffff 0xbc00ffff 0x0000c000; do
		border ${word%????} "${word#??????}"
		flowgen -f ta -t tb -a 10.0.2.1 -c mlcc -n 2 -b 3000 -L 9000 > /run/b 2> /run/errors ||
			fault "$word: $(cat /run/b /run/errors)"
	done
	no_border
	flows 2 200:all:mark 400:all:mark
	full 400 200 930
}

# Other controls in the middle, settings while it runs.
test_changes()
{
	border $NEAR_HALF $TELL_100MBIT
	flows 4 50:0:weight=4 100:1:cc=hpcc 120:2:cc=reno 150:1:cc=mlcc 160:2:cc=mlcc 300:all:mark &
	for i in 1000 1000000 25000; do
		in_ns ta sysctl -q -w net.fairlane.research.mlcc_near_rtt_ns=$i
		sleep 0.05
	done
	wait
	expect "refused" "$(in_ns ta sysctl -w net.fairlane.research.mlcc_near_rtt_ns=1 2>&1 | grep -c Invalid)" -eq 1
}

# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules fairlane tcp_mlcc || exit 1
tests=${*:-end_to_end told_rate near_load no_near_load border_comes_and_goes any_word changes no_telemetry}
run_tests 1 $tests
