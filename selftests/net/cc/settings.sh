# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154 # cc.sh has the other half
# Settings of all controls, sourced by cc.sh: default, range, and what extreme values do.

# refused KEY VALUE...
refused()
{
	key=$1
	shift
	for value in "$@"; do
		in_ns ca sysctl -q -w "$(place "$key")=$value" 2> /run/err &&
			fault "$key accepts $value"
		grep -q 'Invalid argument' /run/err || fault "$key=$value: $(cat /run/err)"
	done
}

# Where the setting $1 is: researchers' have a folder of their own.
place()
{
	if in_ns ca test -e "/proc/sys/net/fairlane/$1"; then
		echo "net.fairlane.$1"
	else
		echo "net.fairlane.research.$1"
	fi
}

# setting KEY DEFAULT SMALLEST LARGEST
setting()
{
	tested=$((tested + 1))
	at=$(place "$1")
	expect "default of $1" "$(in_ns cr sysctl -n "$at")" = "$2"
	for value in "$3" "$4"; do
		in_ns ca sysctl -q -w "$at=$value" || fault "$1 refuses $value"
		expect "$1" "$(in_ns ca sysctl -n "$at")" = "$value"
		# Extreme values must not stop anything.
		flow -c prioplus -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: prioplus"
		flow -c swift -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: swift"
		flow -c soze -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: soze"
		case $1 in
		ledbat* | fluct_ns | noise_ns | base_rtt_ns)
			flow -c ledbat -q 6 -b 100000 -L 30000 > /run/a || fault "$1=$value: ledbat"
			;;
		credit* | expresspass*)
			flow -c expresspass -b 100000 -L 30000 > /run/a || fault "$1=$value: expresspass"
			;;
		flexpass*)
			flow -c flexpass -b 100000 -L 30000 > /run/a || fault "$1=$value: flexpass"
			;;
		d2tcp*)
			flow -c d2tcp -b 100000 -L 30000 > /run/a || fault "$1=$value: d2tcp"
			;;
		esac
	done
	expect "$1 of another namespace" "$(in_ns cr sysctl -n "$at")" = "$2"
	refused "$1" -1 $(($4 + 1)) x 99999999999
	[ "$3" = 0 ] || refused "$1" $(($3 - 1))
	in_ns ca sysctl -q -w "$at=$2"
}

test_settings()
{
	tested=0
	setting line_rate_mbps 0 0 1600000
	setting line_rate_measured 0 0 1
	setting base_rtt_ns 0 0 1000000000
	setting fluct_ns 3200 0 50000000
	setting noise_ns 800 1 50000000
	setting short_flows 0 0 1
	setting urgent_priority 0 0 15
	setting ai_bytes 150 1 1000000
	setting share_ns 0 0 1000000
	setting owd 0 0 1
	setting paper 0 0 1
	setting swift_target_ns 0 0 1000000000
	setting swift_range_ns 0 0 1000000000
	setting swift_hop_ns 0 0 10000000
	setting ledbat_target_ns 0 0 100000000
	setting gso_segs 0 0 64
	setting ss_compat 0 0 1
	# three_nodes() has set 2 for the other tests
	for n in ca cr; do in_ns $n sysctl -q -w net.fairlane.telemetry=1; done
	setting telemetry 1 0 2
	for n in ca cr; do in_ns $n sysctl -q -w net.fairlane.telemetry=2; done
	setting soze_alpha_mbps 0 0 100000000
	setting credit 1 0 1
	setting credit_dscp 40 0 60
	setting credit_segs 0 0 64
	setting credit_host_limit 1 0 1
	setting expresspass_permille 1000 1 1000
	setting flexpass_permille 480 1 1000
	# flows of ours go on with the system's control
	setting off 0 0 1
	setting share_permille 1000 1 1000
	expect "settings" "$(in_ns ca find /proc/sys/net/fairlane -type f | wc -l)" -eq $tested
	# An operator has four numbers and three switches to know: telemetry, credit, off; and the
	# share of a canary.
	expect "operator's settings" "$(in_ns ca find /proc/sys/net/fairlane -maxdepth 1 -type f | wc -l)" -le 8
	# Live: the target of Swift moves the queue.
	flow -c swift -b -1 -L 1000 > /run/a &
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=100000
	sleep 0.45
	short=$(rtt_us)
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=1000000
	sleep 0.45
	long=$(rtt_us)
	wait
	expect "RTT with 0.1 ms, us" "$short" -le 250
	expect "RTT with 1 ms, us" "$long" -ge 600
	in_ns ca sysctl -q -w net.fairlane.research.swift_target_ns=0
}
