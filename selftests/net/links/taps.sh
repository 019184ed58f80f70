#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tests of labtap, in virtual time.
#
#	taps.sh FOLDER-OF-LABLINK-CTL FOLDER-OF-LINKPROBE [TEST...]
#
# To be run as root in the lab's guest, with lablink and labtap loaded. KTAP;
# exit status 0 passed, 1 failed, 4 skipped.
# shellcheck disable=SC1091,SC2154 # lib.sh sets what is not set here
set -u
cd "$(dirname "$0")" || exit 1
. ./lib.sh

# Sends command $2... to the recorder in namespace $1.
tap()
{
	tap_netns=$1
	shift
	ip netns exec "$tap_netns" sh -c 'echo "$*" >/proc/net/labtap' sh "$@" \
		2>/dev/null
}

# Global command.
record()
{
	echo "$*" 2>/dev/null >/proc/labtap
}

# Prints the records, a line each: time, queueing delay, backlog, tap, bytes
# on the line, source port, destination port, protocol, TOS, TCP flags, kind,
# bytes of TCP header, sequence.
records()
{
	od -An -v -t u4 -w32 /proc/labtap | awk '{
		print $2 * 4294967296 + $1, $3, $4, $5 % 65536,
			int($5 / 65536), $6 % 65536, int($6 / 65536), $7 % 256,
			int($7 / 256) % 256, int($7 / 65536) % 256,
			int($7 / 16777216) % 16, int($7 / 268435456) * 4, $8
	}'
}

# Prints the value of $1 in /proc/labtap_stats.
tap_stat()
{
	sed -n "s/^$1 //p" /proc/labtap_stats
}

test_commands()
{
	link_new rate 10gbit
	tap a add 3 e0 || fault "cannot add"
	tap b add 4 e0 30 || fault "cannot add with overhead"
	equal "taps in a" "$(ip netns exec a cat /proc/net/labtap)" \
		"add 3 e0 24"
	equal "taps in b" "$(ip netns exec b cat /proc/net/labtap)" \
		"add 4 e0 30"
	lablink-ctl set e0 netns a overhead 11
	equal "overhead of the line" "$(ip netns exec a cat /proc/net/labtap)" \
		"add 3 e0 11"
	tap a add 5 e0 && fault "one device, two taps"
	tap a add 4 lo && fault "one number, two taps"
	tap a add 5 nosuch && fault "unknown device accepted"
	tap a add 65536 lo && fault "number above 65535 accepted"
	tap a add 5 lo 1001 && fault "overhead above 1000 accepted"
	tap a add 5 lo 9x && fault "rubbish accepted"
	tap a add 5 && fault "add without device accepted"
	tap a rubbish && fault "unknown command accepted"
	tap a del 4 && fault "tap of another namespace deleted"
	tap b del 4 || fault "cannot delete"
	tap a add 4 lo || fault "number not free again"
	link_del
	netns_new a
	equal "taps that are left" "$(ip netns exec a cat /proc/net/labtap)" ""
	tap a add 3 lo || fault "number of a removed device not free"
	ip netns del a
	record start 0 && fault "room for 0 records accepted"
	record start 4294967296 && fault "room for 2^32 records accepted"
	record rubbish && fault "unknown global command accepted"
	record start 10 || fault "cannot start"
	record start 10 && fault "started twice"
	record free && fault "freed while running"
	cat /proc/labtap >/dev/null 2>&1 && fault "read while running"
	record stop || fault "cannot stop"
	record free || fault "cannot free"
	equal "bytes of no records" "$(wc -c </proc/labtap)" 0
	result "commands, and what is refused"
}

test_burst()
{
	link_new rate 10gbit delay 5us
	tc -n a qdisc replace dev e0 root pfifo limit 1000
	tap a add 7 e0
	record start 1000
	probe -n 200
	record stop
	records >"$work/records"
	equal "records" "$(wc -l <"$work/records")" 200
	awk '{ gap = $1 - last; late = $1 - first; last = $1 }
	NR == 1 { first = $1; late = 0; gap = 1230 }
	gap < 1230 || gap > 1231 { print "gap " gap; exit }
	$2 != late { print "delay " $2 ", not " late; exit }
	NR > 1 && $3 != (200 - NR) * 1514 { print "backlog " $3; exit }
	$4 != 7 || $5 != 1538 || $7 != 9000 || $8 != 17 || $11 != 0 ||
		$12 != 0 { print; exit }' "$work/records" >"$work/bad"
	[ ! -s "$work/bad" ] || fault "$(cat "$work/bad")"
	link_del
	result "start of transmission, queueing delay, backlog: exact"
}

test_drops()
{
	link_new rate 10gbit delay 5us
	tc -n a qdisc replace dev e0 root pfifo limit 10
	tap a add 7 e0
	record start 1000
	probe -n 200
	record stop
	records >"$work/records"
	equal "drops recorded" \
		"$(awk '$11 == 1' "$work/records" | wc -l)" \
		"$(qdisc_stat a dropped)"
	equal "packets recorded" \
		"$(awk '$11 == 0' "$work/records" | wc -l)" 11
	equal "backlog at the drops" "$(awk '$11 == 1 { print $3 }' \
		"$work/records" | sort -u)" 15140
	link_del
	result "drops of the qdisc"
}

test_tcp()
{
	link_new rate 10gbit delay 5us
	tap a add 7 e0
	tap b add 8 e0
	record start 100000
	stream -f a -t b -a 10.0.0.2 -b 1000000 >"$work/tcp" ||
		fault "$(cat "$work/tcp")"
	record stop
	records >"$work/records"
	equal "payload" "$(awk '$4 == 7 {
		sum += $5 - 24 - 14 - 20 - $12 } END { print sum }' \
		"$work/records")" 1000000
	equal "span of sequence numbers" "$(awk '$4 == 7 && $10 % 4 >= 2 {
		first = $13 + 1
	}
	$4 == 7 && $10 % 2 {
		n = $13 + $5 - 58 - $12 - first
	} END { print n < 0 ? n + 4294967296 : n }' "$work/records")" 1000000
	equal "SYNs from a, from b" "$(awk 'int($10 / 2) % 2 {
		n[$4]++ } END { print n[7], n[8] }' "$work/records")" "1 1"
	equal "ports from b" "$(awk '$4 == 8 { print $6 }' \
		"$work/records" | sort -u)" 9001
	link_del
	result "ports, flags, header length, sequence of TCP"
}

test_overflow()
{
	link_new rate 10gbit delay 5us
	tap a add 7 e0
	record start 50
	probe -n 200
	record stop
	equal "records" "$(tap_stat records)" 50
	equal "overflow" "$(tap_stat overflow)" 150
	equal "bytes" "$(wc -c </proc/labtap)" 1600
	record start 50
	record stop
	equal "records after a new start" "$(tap_stat records)" 0
	record free
	equal "room after free" "$(tap_stat max_records)" 0
	link_del
	result "records that find no room are counted"
}

test_veth()
{
	netns_new a b
	ip link add e0 netns a address 02:00:00:00:00:01 type veth \
		peer name e0 netns b address 02:00:00:00:00:02
	link_up
	tc -n a qdisc replace dev e0 root tbf rate 1gbit burst 1600 limit 1m
	sleep 0.001
	tap a add 7 e0 20
	record start 1000
	probe -n 50
	record stop
	records >"$work/records"
	equal "records" "$(wc -l <"$work/records")" 50
	awk 'NR == 1 { first = $1 }
	{ gap = $1 - last; last = $1 }
	NR > 2 && (gap < 12111 || gap > 12113) { print "gap " gap; exit }
	$2 != $1 - first { print "delay " $2; exit }
	NR > 1 && $3 != (50 - NR) * 1514 { print "backlog " $3; exit }
	$5 != 1534 { print; exit }' "$work/records" >"$work/bad"
	[ ! -s "$work/bad" ] || fault "$(cat "$work/bad")"
	link_del
	result "another kind of device: the time when the qdisc lets go"
}

test_unload()
{
	link_new rate 10gbit delay 5us
	tap a add 7 e0
	record start 1000
	tap_module=$(sed -n 's/^labtap .*/yes/p' /proc/modules)
	equal "labtap in /proc/modules" "$tap_module" yes
	rmmod labtap || fault "cannot unload labtap"
	probe -n 20
	equal "packets without the recorder" "$received" 20
	linkprobe -f a -t b -a 10.0.0.2 -n 500 -w 1 >"$work/probe" &
	sleep 0.0001
	rmmod lablink || fault "cannot unload lablink"
	wait
	ip -n a link show e0 >/dev/null 2>&1 && fault "the link is still there"
	link_del
	result "modules unloaded under traffic"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- commands burst drops tcp overflow veth unload
for name in "$@"; do
	"test_$name"
done
finish
