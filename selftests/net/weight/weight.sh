#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317 # called by name
#
# fairlane weight against the module, on live sockets, in virtual time:
#
#	wa --- wr --- wb	1 Gbit/s
#
# Names of tests as arguments select. Needs root, lablink, ip, jq, iperf3 and, in
# PATH, fairlane and lablink-ctl; $MODULES is the folder of the modules. $FIRST: number
# of the first test.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
export LC_ALL=C
# Where a user without rights can get at it.
mkdir -p /run/fl && cp "$(command -v fairlane)" /run/fl/ || exit 1
PATH=/run/fl:$PATH:/usr/sbin:/sbin
pids=()
user=(setpriv --reuid=65534 --regid=65534 --clear-groups)

fl() { fairlane -n wa "$@"; }

drop_net()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" && wait "$pid"
	done 2> /dev/null
	pids=()
	drop_nodes wa wr wb
}

# Söze everywhere: its sockets count for a budget before anybody gives them a weight.
net()
{
	drop_net
	three_nodes wa wr wb 1gbit '' || return 1
	in_ns wa sysctl -q -w net.ipv4.tcp_congestion_control=soze \
		net.fairlane.soze_alpha_mbps=1000
	tc -n wr qdisc replace dev east root handle 1: pfifo limit 1000
	# shellcheck disable=SC2016 # the inner shell expands it
	in_ns wa bash -c ': <> /dev/tcp/10.0.2.1/1' 2> /dev/null
	return 0
}

# Servers on the ports, and a client of each that sends $1 bytes from the port 4000x.
transfer()
{
	local bytes=$1 port i=0

	shift
	for port in "$@"; do
		in_ns wb iperf3 -s -1 -p "$port" > /dev/null 2>&1 &
		pids+=($!)
	done
	sleep 0.05
	for port in "$@"; do
		i=$((i + 1))
		in_ns wa "${user[@]}" iperf3 -c 10.0.2.1 -p "$port" --cport $((40000 + i)) -n "$((bytes * i))" > /dev/null 2>&1 &
		pids+=($!)
	done
	sleep 0.02
}

# $1 connections of the user to wb; their ports are in $from.
connections()
{
	local i

	in_ns wb iperf3 -s -p 5201 > /dev/null 2>&1 &
	pids+=($!)
	sleep 0.05
	for ((i = 0; i < $1; i++)); do
		in_ns wa "${user[@]}" bash -c 'exec 5<> /dev/tcp/10.0.2.1/5201; exec sleep 1000' &
		pids+=($!)
	done
	sleep 0.05
	fl -j flow show dport 5201 | jq '.[].sport' > /run/ports
	mapfile -t from < /run/ports
}

weight_of() { fl -j flow show sport "$1" | jq -c '.[0].weight'; }

# The tool in wa as the user; what it says goes to /run/out.
as_user() { in_ns wa "${user[@]}" fairlane "$@" > /run/out 2>&1; }

# The policy's words, with the flows of transfer(): 4 and 8 MB.
jobs()
{
	cat > /run/jobs << END
jobs:
  pair:
    weight: 2
    flows:
      - {name: one, sport: 40001, size: 4mb}
      - {name: two, sport: 40002, size: 8mb}
END
}

# Hands JSON lines out, to be checked against the schema (run): here that would be slow.
to_schema() { sed 's/^/#json /' "$1"; }

# Once: the weights stay, each change is a line; a dry run changes nothing.
test_once()
{
	jobs
	transfer 4000000 5201 5202
	fl -j weight coflow once dry-run jobs /run/jobs > /run/dry || fault "dry run: $(cat /run/dry)"
	expect "dry run, weight" "$(weight_of 40001)" = 1
	expect "dry run, results" "$(jq -rs 'map(.result) | unique | join(" ")' /run/dry)" = dry-run
	expect "dry run, names" "$(jq -rs 'map(.name) | sort | join(" ")' /run/dry)" = "one two"
	expect "dry run, sum" "$(jq -s 'map(.weight) | add | . > 1.99 and . < 2.01' /run/dry)" = true
	fl -j weight coflow once jobs /run/jobs > /run/once || fault "once: $(cat /run/once)"
	to_schema /run/dry
	to_schema /run/once
	expect "changes" "$(jq -rs 'map(.result) | join(" ")' /run/once)" = "changed changed"
	# the lowered one first, or a budget would refuse the other
	expect "order" "$(jq -rs '.[0].name + " " + .[1].name' /run/once)" = "one two"
	expect "weight" "$(weight_of 40002)" = "$(jq -s '.[1].weight' /run/once)"
	expect "twice as much" "$(jq -s '.[1].weight / .[0].weight | . > 1.6 and . < 2.6' /run/once)" = true
	fl weight coflow once jobs /run/jobs > /run/out || fault "again: $(cat /run/out)"
}

# The loop ends after its time, and flows get back what they had.
test_put_back()
{
	jobs
	transfer 4000000 5201 5202
	fl flow set sport 40002 weight 3
	fl weight shortest-first by size interval 2ms for 10ms sport 40001-40002 largest 1mb > /run/out &
	sleep 0.005
	expect "in between" "$(weight_of 40002)" != 3
	wait $!
	grep -q '^flows 10.0.1.1:40001 > 10.0.2.1:5201 weight 1 to ' /run/out || fault "text: $(cat /run/out)"
	expect "what was set" "$(weight_of 40002)" = 3
	expect "what was not" "$(weight_of 40001)" = 1
	expect "nobody's setting" "$(fl -j flow show sport 40001 | jq -r '.[0].from.weight // "default"')" = default
	# a signal ends it as well, and its time goes by without flows, too
	fl weight coflow interval 1ms for 5ms dport 1 > /run/out || fault "no flows: $(cat /run/out)"
	fairlane -n wa weight coflow interval 1ms sport 40001-40002 sum 8 > /run/out &
	sleep 0.005
	kill -TERM $!
	wait $! || fault "exit status after a signal"
	expect "after a signal" "$(weight_of 40002)" = 3
}

# What waits in sockets is the size: large writes, nobody says how large.
test_observed()
{
	transfer 20000000 5201 5202
	fl -j weight shortest-first once sport 40001-40002 > /run/a
	expect "seen" "$(jq -s 'map(.left_bytes > 0) | all' /run/a)" = true
}

# By cgroup: one of two flows is in it.
test_cgroup()
{
	local own

	[ -e /sys/fs/cgroup/cgroup.procs ] || mount -t cgroup2 none /sys/fs/cgroup
	mkdir -p /sys/fs/cgroup/app/part
	in_ns wb iperf3 -s -p 5201 > /dev/null 2>&1 &
	pids+=($!)
	sleep 0.05
	in_ns wa bash -c 'exec 5<> /dev/tcp/10.0.2.1/5201; exec sleep 1000' &
	pids+=($!)
	sleep 0.05
	own=$(fl -j flow show dport 5201 | jq '.[].sport')
	# before ip netns exec, which has another /sys
	(echo $BASHPID > /sys/fs/cgroup/app/part/cgroup.procs &&
		exec ip netns exec wa bash -c 'exec 5<> /dev/tcp/10.0.2.1/5201; exec sleep 1000') &
	pids+=($!)
	sleep 0.05
	expect "flows" "$(fl -j flow show dport 5201 | jq length)" -eq 2
	expect "of the cgroup" "$(fl -j flow show cgroup /app | jq -r '.[].sport')" -ne "$own"
	expect "of the one below" "$(fl -j flow show cgroup /sys/fs/cgroup/app/part | jq length)" -eq 1
	expect "of all" "$(fl -j flow show dport 5201 cgroup / | jq length)" -eq 2
}

# Section 3.4: an application (a user) with a total weight. Raising one flow above it is
# refused, lowering one allows raising another, and the audit trail has it all.
test_sum()
{
	fl limits set uid 65534 budget 3
	connections 3
	fl -j monitor flow refused > /run/audit &
	pids+=($!)
	sleep 0.01
	as_user flow set sport "${from[0]}" weight 1.5
	expect "above the sum" $? -eq 2
	grep -q 'the sum of weights would be above its budget' /run/out || fault "says: $(cat /run/out)"
	expect "after a refusal" "$(weight_of "${from[0]}")" = 1
	as_user flow set sport "${from[1]}" weight 0.5 || fault "lowering: $(cat /run/out)"
	as_user flow set sport "${from[0]}" weight 1.5 || fault "raising what another gave: $(cat /run/out)"
	as_user flow set sport "${from[2]}" weight 1.001
	expect "nothing is left" $? -eq 2
	# more is paid for
	fl limits set uid 65534 budget 4
	as_user flow set sport "${from[2]}" weight 2 || fault "with a larger sum: $(cat /run/out)"
	expect "used" "$(fl -j limits show | jq -c '.uids[] | select(.uid == 65534) | .used')" = 4
	sleep 0.01
	jq -r '[.kind, .flow.sport, .old, .new, .by.uid] | map(tostring) | join(" ")' /run/audit > /run/trail
	cat > /run/want << END
refused ${from[0]} 1 1.5 65534
flow ${from[1]} 1 0.5 65534
flow ${from[0]} 1 1.5 65534
refused ${from[2]} 1 1.001 65534
flow ${from[2]} 1 2 65534
END
	cmp -s /run/want /run/trail || fault "audit trail: $(cat /run/trail)"
	expect "when, and in order" "$(jq -s 'map(.time_ns) | . == sort and length == 5' /run/audit)" = true
}

# A policy that runs as the user keeps the sum at every moment: nothing is refused.
test_policy_keeps_sum()
{
	jobs
	fl limits set uid 65534 budget 6
	transfer 8000000 5201 5202
	fl -j monitor flow refused > /run/audit &
	pids+=($!)
	sleep 0.001
	# the control connections of iperf3 have their weights of 1, too
	fl limits set uid 65534 budget 4
	as_user -j weight coflow interval 2ms for 30ms jobs /run/jobs || fault "weight: $(cat /run/out)"
	cp /run/out /run/changes
	expect "changes" "$(jq -s length /run/changes)" -ge 2
	expect "results" "$(jq -rs 'map(.result) | unique | join(" ")' /run/changes)" = changed
	expect "refusals" "$(jq -s 'map(select(.kind == "refused")) | length' /run/audit)" -eq 0
	# after each event the sum of what is known
	expect "sum" "$(jq -s 'reduce .[] as $e ({w: {"40001": 1, "40002": 1}, most: 0};
		.w[$e.flow.sport | tostring] = $e.new | .most = ([.most, (.w | add)] | max)) | .most <= 2' /run/audit)" = true
	# a policy that wants more than there is: refused, told once, and tried again
	as_user -j weight shortest-first interval 1ms for 5ms largest 100mb sport 40002
	cp /run/out /run/changes
	expect "refused" "$(jq -rs 'map(.result) | unique | join(" ")' /run/changes)" = refused
	to_schema /run/changes
	expect "told" "$(jq -s length /run/changes)" -eq 1
	as_user weight shortest-first once largest 100mb sport 40002
	expect "exit status of one refused look" $? -eq 2
}

# Flows in several network namespaces are one job; what is lowered is lowered first.
test_places()
{
	in_ns wa iperf3 -s -1 -p 5301 > /dev/null 2>&1 &
	pids+=($!)
	jobs
	transfer 4000000 5201
	in_ns wb iperf3 -c 10.0.1.1 -p 5301 --cport 40002 -n 8000000 > /dev/null 2>&1 &
	pids+=($!)
	sleep 0.005
	fairlane -j weight coflow once netns wb,wa jobs /run/jobs > /run/a || fault "places: $(cat /run/a)"
	to_schema /run/a
	expect "where" "$(jq -rs 'map(.name + " " + .netns) | join(", ")' /run/a)" = "one wa, two wb"
	expect "weight in the other" "$(fairlane -j -n wb flow show sport 40002 | jq '.[0].weight')" = "$(jq -s '.[1].weight' /run/a)"
	fairlane weight coflow once netns wa,nowhere sport 1 > /run/out 2>&1
	expect "exit status without namespace" $? -eq 2
	grep -q 'network namespace "nowhere"' /run/out || fault "namespace: $(cat /run/out)"
}

trap 'drop_net' EXIT
sleep 0.01
load_modules lablink fairlane tcp_soze || exit 1
tests=${*:-once put_back observed cgroup sum policy_keeps_sum places}
# shellcheck disable=SC2086 # words
run_tests "${FIRST:-1}" $tests
