#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317 # called by name
#
# The command fairlane against the module, on live sockets, in virtual time:
#
#	ca --- cr --- cb	1 Gbit/s from cr to cb and back, base RTT about 35 us
#
# Names of tests as arguments select. Needs root, lablink, ip, jq, iperf3, nginx, curl,
# valgrind and, in PATH, fairlane and lablink-ctl; $MODULES is the folder of the
# modules, $LIBS that of fairlane-preload.so. $FIRST: number of the first test.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}" "${LIBS:?folder of the libraries}"
export LC_ALL=C
# A copy as it is installed, where a user without rights can get at it.
mkdir -p /run/fl/bin /run/fl/lib &&
	cp "$(command -v fairlane)" /run/fl/bin/ &&
	cp "$LIBS/fairlane-preload.so" /run/fl/lib/ || exit 1
PATH=/run/fl/bin:$PATH:/usr/sbin:/sbin
pids=()

# The tool in the namespace of the sender.
fl() { fairlane -n ca "$@"; }

# json DEFINITION ARGUMENTS...: the tool's JSON. It is also handed out, in lines that
# begin with "#json", to be checked against the schema (run): here that would be slow.
json()
{
	local name=$1 line file=/run/json-$BASHPID

	shift
	fairlane -j "$@" > "$file" || fault "fairlane -j $*: exit status $?"
	while IFS= read -r line; do
		printf '#json %s %s\n' "$name" "$line" >&9
		printf '%s\n' "$line"
	done < "$file"
}

# refused STATUS TEXT ARGUMENTS...: does the tool end with that and say that?
refused()
{
	local status=$1 text=$2 got

	shift 2
	fairlane -n ca "$@" > /run/out 2>&1
	got=$?
	expect "exit status of \"fairlane $*\"" "$got" -eq "$status"
	grep -qF -- "$text" /run/out || fault "fairlane $*: says $(cat /run/out), not: $text"
}

# without_right TEXT ARGUMENTS...: a user without rights is told that.
without_right()
{
	local text=$1

	shift
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane "$@" > /run/out 2>&1
	expect "exit status of \"fairlane $*\" without rights" $? -eq 2
	grep -qF -- "$text" /run/out || fault "fairlane $* without rights: says $(cat /run/out), not: $text"
}

# accepted ARGUMENTS...
accepted() { fairlane -n ca "$@" > /run/out 2>&1 || fault "fairlane $*: $(cat /run/out)"; }

load() { load_modules lablink fairlane tcp_swift tcp_prioplus; }

drop_net()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" && wait "$pid"
	done 2> /dev/null
	pids=()
	drop_nodes ca cr cb
}

# A fresh topology, settings at their defaults but for the width of the channels: a
# few packets' time at 1 Gbit/s.
net()
{
	local n

	drop_net
	three_nodes ca cr cb '1gbit' '' || return 1
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000 \
			net.fairlane.research.fluct_ns=30000 net.fairlane.noise_ns=10000
	done
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
	tc -n cr qdisc replace dev west root handle 1: pfifo limit 500
	tc -n ca qdisc replace dev e0 root handle 1: pfifo limit 1000
	# Address resolution done before anything is timed.
	# shellcheck disable=SC2016 # the inner shell expands it
	in_ns ca bash -c 'for a in 10.0.2.1 fd00:2::1; do : <> /dev/tcp/$a/1; done' 2> /dev/null
	return 0
}

# Listeners in cb for the tests that need sockets, not traffic.
sinks()
{
	local port

	for port in "$@"; do
		in_ns cb iperf3 -s -p "$port" > /dev/null 2>&1 &
		pids+=($!)
	done
	# virtual time: until they listen
	sleep 0.1
}

# Opens a connection to cb's port $2 in a process in ca that keeps it as descriptor 5;
# its pid is in $opened.
open_flow()
{
	in_ns ca bash -c "exec 5<> /dev/tcp/${1}/${2}; echo \$\$ > /run/opened; sleep 1000; :" &
	pids+=($!)
	sleep 0.1
	opened=$(cat /run/opened)
}

test_flow_show()
{
	sinks 5201
	open_flow 10.0.2.1 5201
	open_flow fd00:2::1 5201
	expect "flows" "$(json flow_show -n ca flow show | jq length)" -eq 2
	expect "flows, IPv6" "$(json flow_show -n ca flow show dst fd00::/8 | jq length)" -eq 1
	expect "flows of none" "$(json flow_show -n ca flow show dport 1 | jq length)" -eq 0
	expect "flows, listening" "$(json flow_show -n cb flow show state listening | jq '.[0].tcp_state')" = '"listening"'
	expect "flows by pid" "$(json flow_show -n ca flow show pid "$opened" | jq '.[0].family')" = '"ipv6"'
	json flow_show -n ca -d flow show > /run/a
	expect "process" "$(jq -r '.[1].processes[0].fd' /run/a)" = 5
	# Nobody has set anything, and cubic tells nothing: nothing is claimed.
	expect "prio" "$(jq -r '.[0].prio' /run/a)" = null
	accepted flow set dst 10.0.2.1 weight 2
	fl -d flow show > /run/a || fault "flow show -d"
	grep -qE '^10\.0\.1\.1:[0-9]+ > 10\.0\.2\.1:5201 cubic prio 0 \(so_priority\) weight 2 \(netlink\)' /run/a || fault "text: $(cat /run/a)"
	# Without root, where everybody else's sockets are shown too.
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane -j flow show > /run/a ||
		fault "flow show without root"
	expect "flows without root" "$(jq length /run/a)" -eq 2
	json flow_watch -n ca flow watch count 2 interval 1ms > /run/a
	expect "lines of watch" "$(wc -l < /run/a)" -eq 2
	# A process may call itself anything; the document is one all the same.
	in_ns ca bash -c "printf '\\377x' > /proc/self/comm; exec 5<> /dev/tcp/10.0.2.1/5201; echo \$\$ > /run/opened; sleep 1000; :" &
	pids+=($!)
	sleep 0.1
	opened=$(cat /run/opened)
	expect "a name that is no text" "$(json flow_show -n ca -d flow show pid "$opened" |
		jq -r --argjson pid "$opened" '.[0].processes[] | select(.pid == $pid).name')" = $'\xef\xbf\xbdx'
	json flow_watch -n ca top count 1 > /run/a
	expect "escapes of a terminal in a pipe" "$(fl top count 1 | grep -c $'\033')" -eq 0
	fl top count 1 sort prio | grep -q '^10.0.1.1:.* cubic  *0  *2 ' || fault "top: $(fl top count 1)"
}

test_flow_refusals()
{
	refused 1 '"-j" stands before the object' flow show -j
	fairlane -V > /dev/full 2> /run/out
	expect "exit status of -V where there is no room" $? -eq 2
	expect "what it says" "$(cat /run/out)" = 'Error: cannot write the output: No space left on device'
	sinks 5201
	open_flow 10.0.2.1 5201
	open_flow 10.0.2.1 5201
	refused 1 'nothing to set' flow set dport 5201
	refused 1 'which flow?' flow set prio 5
	refused 1 'prio 16: an integer from 0' flow set dport 5201 prio 16
	refused 1 'weight 0.0001:' flow set dport 5201 weight 0.0001
	refused 1 'weight 1001:' flow set dport 5201 weight 1001
	refused 1 'base-rtt 12: a time with its unit' flow set dport 5201 base-rtt 12
	refused 1 'base-rtt 99ns:' flow set dport 5201 base-rtt 99ns
	refused 1 'line-rate 10: a rate with its unit' flow set dport 5201 line-rate 10
	refused 1 'deadline 1500ns:' flow set dport 5201 deadline 1500ns
	refused 1 '"prio" twice' flow set dport 5201 prio 1 prio 2
	refused 1 '"dport" twice' flow set dport 5201 dport 5202 prio 1
	refused 1 '"cc" twice' flow set dport 5201 cc cubic cc reno
	refused 1 '"prio" twice' flow show prio 1 prio 2
	refused 1 '"state" twice' flow show state all state listening
	refused 1 'dport 90: a port is said twice' flow show dst 10.0.0.1:80 dport 90
	refused 1 'src 10.0.0.1:80: a port is said twice' flow show sport 80 src 10.0.0.1:80
	refused 1 '"pid" twice' flow set pid 1 fd 2 pid 3 fd 4 prio 1
	refused 1 '"count" twice' flow watch count 1 count 2
	refused 1 '"sort" twice' top sort rate sort prio
	refused 1 '"min" twice' weight coflow dport 1 min 1 min 2
	refused 1 '"percentile" twice' noise measure self percentile 50 percentile 60
	refused 1 '"share" twice' on share 5% share 10%
	refused 1 '"prio" needs a value' flow set dport 5201 prio
	refused 1 '2 flows fit' flow set dport 5201 prio 5
	refused 2 'no flow fits' flow set dport 1 prio 5
	refused 1 'cookie xyz: hexadecimal' flow set cookie xyz prio 5
	refused 2 'no flow fits' flow set cookie ffffffffffff prio 5
	refused 1 'dst 10.0.0.1/8: an address' flow show dst 10.0.0.1/8
	refused 1 'state open: a state of TCP' flow show state open
	refused 1 'uid nobody-at-all: no such user' flow show uid nobody-at-all
	refused 1 '"cgroup" needs a value' flow show cgroup ''
	refused 1 '"from" needs a value' flow set from '' all prio 5
	refused 1 'what is "nonsense"?' flow show nonsense
	refused 1 'no command "nonsense"' flow nonsense
	refused 2 'pid 999999 fd 5: No such process' flow set pid 999999 fd 5 prio 5
	refused 2 'it has no such descriptor' flow set pid "$opened" fd 77 prio 5
	refused 2 'not a socket' flow set pid "$opened" fd 1 prio 5
	refused 1 'nothing to filter' flow set pid "$opened" fd 5 dport 1 prio 5
	# Nothing of all that has done anything.
	expect "settings" "$(json flow_show -n ca flow show | jq -c '[.[] | .prio, .weight] | unique')" = '[null]'
}

# A flow of ca's to port $1, one field ($2).
field() { json flow_show -n ca flow show dport "$1" | jq -r ".[0].$2"; }

test_flow_set()
{
	local cookie

	sinks 5201 5202
	open_flow 10.0.2.1 5201
	accepted flow set dport 5201 prio 5 weight 2.5 base-rtt 20us line-rate 1gbit deadline 5ms
	expect "by filter" "$(field 5201 prio) $(field 5201 weight) $(field 5201 base_rtt_ns) $(field 5201 line_rate_mbps) $(field 5201 deadline_us)" \
		= '5 2.5 20000 1000 5000'
	expect "from" "$(field 5201 from.prio)" = netlink
	cookie=$(field 5201 cookie)
	accepted flow set cookie "$cookie" prio 6
	expect "by cookie" "$(field 5201 prio)" = 6
	expect "weight is as it was" "$(field 5201 weight)" = 2.5
	accepted flow set src "10.0.1.1:$(field 5201 sport)" dst 10.0.2.1:5201 prio 7
	expect "by addresses" "$(field 5201 prio)" = 7
	accepted flow set pid "$opened" fd 5 prio 8 weight 3
	expect "by pid and fd" "$(field 5201 prio) $(field 5201 weight) $(field 5201 from.prio)" = '8 3 setsockopt'
	# The second of two is refused: the first is undone.
	refused 1 'weight 0:' flow set pid "$opened" fd 5 prio 9 weight 0
	expect "after a refusal" "$(field 5201 prio)" = 8
	accepted flow set dport 5201 prio default weight default base-rtt default line-rate default deadline default
	expect "taken back" "$(field 5201 prio) $(field 5201 weight) $(field 5201 from.prio)" = '0 1 so_priority'
	open_flow fd00:2::1 5202
	open_flow 10.0.2.1 5202
	expect "matched and changed" "$(json flow_set -n ca flow set dport 5202 all prio 4 | jq -c '[.matched, .changed]')" = '[2,2]'
	expect "both" "$(json flow_show -n ca flow show prio 4 | jq length)" -eq 2
	expect "others" "$(field 5201 prio)" = 0
	# Another user may neither see less nor change anything of root's.
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane flow set dport 5201 prio 1 > /run/out 2>&1
	expect "exit status without root" $? -eq 2
	grep -q 'Error: 10.0.1.1:' /run/out || fault "without root: $(cat /run/out)"
	expect "after a refusal" "$(field 5201 prio)" = 0
	# One's own is changed, also if nobody has told it anything and its control is not ours.
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'exec 7<> /dev/tcp/10.0.2.1/5202; exec sleep 1000' &
	held=$!
	sleep 0.01
	expect "flows of a user" "$(json flow_show -n ca flow show uid 65534 | jq -c '[.[] | [.cc, .prio]]')" = '[["cubic",null]]'
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane flow set uid 65534 prio 3 > /run/out 2>&1 ||
		fault "one's own: $(cat /run/out)"
	expect "of a user" "$(json flow_show -n ca flow show uid 65534 | jq -c '[.[].prio]')" = '[3]'
	kill $held
	wait $held
}

test_policy()
{
	sinks 5201 5202
	refused 1 'nothing to set' policy add dport 5201
	refused 1 'prio default: leave it out' policy add dport 5201 prio default
	refused 1 'prio 99: an integer from 0 (lowest) to 15 is wanted' policy add prio 99
	! grep -q default /run/out || fault "offers what is refused: $(cat /run/out)"
	refused 1 'order 0: an integer' policy add order 0 prio 1
	refused 1 'dport 0:' policy add dport 0 prio 1
	refused 1 'dport 9-8:' policy add dport 9-8 prio 1
	refused 1 'IPv4 and IPv6 in one policy' policy add src 10.0.0.0/8 dst fd00::/16 prio 1
	refused 1 'family ipv5' policy add family ipv5 prio 1
	refused 1 'when never' policy add when never prio 1
	refused 1 'cgroup a/b: a path from the root' policy add cgroup a/b prio 1
	# an empty condition would hold for everybody
	for word in cc cgroup src dst sport dport uid dscp when family; do
		refused 1 "\"$word\" needs a value" policy add "$word" '' prio 1
	done
	refused 1 'cc: at most 15 characters' policy add cc 1234567890123456 prio 1
	refused 1 'comment: at most 63' policy add prio 1 comment "$(printf '%064d' 0)"
	refused 1 'comment: it is not UTF-8' policy add prio 1 comment $'\377\376'
	refused 1 'cgroup: it is not UTF-8' policy add cgroup $'/\303' prio 1
	for word in 'order 7' 'dport 80' 'dst 10.0.0.1' 'uid 0' 'cgroup /' 'cc reno' 'dscp 1' 'comment x' 'prio 1'; do
		# shellcheck disable=SC2086 # words
		refused 1 "\"${word% *}\" twice" policy add $word $word prio 1
	done
	refused 1 'which one?' policy replace prio 1
	refused 1 'which one?' policy del
	refused 2 'no policy of order 5' policy show order 5
	expect "policies" "$(json policy_show -n ca policy show | jq length)" -eq 0
	expect "order that was chosen" "$(json policy_add -n ca policy add dport 5201 prio 3 comment 'say "a"' | jq .order)" -gt 0
	accepted policy add order 5 when connect src 10.0.1.0/24 dst 10.0.2.1 sport 1024-65535 dport 5202 \
		uid root family ipv4 prio 6 weight 2.5
	refused 2 'policy add: ' policy add order 5 prio 1
	accepted policy replace order 5 when connect src 10.0.1.0/24 dport 5202 prio 7
	json policy_show -n ca policy show > /run/a
	expect "in order" "$(jq -c '[.[].order == 5, .[].set.prio]' /run/a)" = '[true,false,7,3]'
	expect "comment" "$(jq -r '.[1].comment' /run/a)" = 'say "a"'
	open_flow 10.0.2.1 5201
	open_flow 10.0.2.1 5202
	open_flow fd00:2::1 5202
	expect "first" "$(field 5201 prio) $(field 5201 from.prio)" = '3 policy'
	expect "second" "$(json flow_show -n ca flow show dport 5202 dst 10.0.0.0/8 | jq -c '.[0] | [.prio, .policy]')" = '[7,5]'
	expect "not by IPv6" "$(json flow_show -n ca flow show dst fd00::/8 | jq -c '.[0].prio')" = null
	expect "hits" "$(json policy_show -n ca policy show order 5 | jq '.[0].hits')" -eq 1
	# What is set on the socket wins; taking it back shows the policy again.
	accepted flow set dport 5201 prio 1
	expect "own" "$(field 5201 prio)" = 1
	accepted flow set dport 5201 prio default
	expect "own taken back" "$(field 5201 prio)" = 3
	accepted policy del order 5
	refused 2 'policy del: ' policy del order 5
	expect "changed by apply" "$(json policy_apply -n ca policy apply | jq .changed)" -eq 1
	expect "after apply" "$(json flow_show -n ca flow show dport 5202 dst 10.0.0.0/8 | jq '.[0].prio')" -eq 0
	expect "applied at once" "$(json policy_add -n ca policy add order 6 dport 5202 prio 4 apply | jq .applied.changed)" -ge 1
	accepted policy add order 7 dport 5202 when accept prio 1 comment late
	accepted policy add order 8 dport 5202-5203 dst 10.0.0.0/8 prio 1
	accepted policy add order 9 dport 5203 dst 10.128.0.0/9 uid 7 prio 1
	expect "policies in vain" "$(fl -j check | jq -r '.[] | select(.check == "shadowed").text')" = \
		$'policy 7 (late) decides for no socket: policy 6, before it, matches all that it does\npolicy 9 decides for no socket: policy 8, before it, matches all that it does'
	# a command that has nothing to tell prints a document, too
	expect "one is deleted" "$(json empty -n ca policy del order 6)" = '{}'
	expect "all are deleted" "$(json empty -n ca policy flush)" = '{}'
	expect "policies left" "$(json policy_show -n ca policy show | jq length)" -eq 0
	expect "of another namespace" "$(fairlane -n cb policy show | wc -l)" -eq 0
}

test_profile()
{
	refused 1 'no loaded module has a setting "nonsense" ("fairlane profile show"' profile set nonsense 5
	refused 1 'off is no setting of a profile: fairlane off, fairlane on share P% set it' profile set off 1
	refused 1 'share_permille is no setting of a profile' profile set dst 10.0.0.0/8 share_permille 50
	refused 1 'telemetry on: an integer is wanted' profile set telemetry on
	refused 1 'NAME VALUE is wanted' profile set
	refused 1 '"fluct_ns" needs a value' profile set fluct_ns
	refused 1 'fluct 5: a value with its unit is wanted, such as 12us, or the full name fluct_ns' profile set fluct 5
	refused 1 'line_rate 25Gb: a value with its unit is wanted, such as 25gbit, or' profile set line_rate 25Gb
	refused 1 '"base_rtt_ns" twice' profile set base_rtt 13us base_rtt_ns 14000
	refused 1 '"noise" twice' profile set noise 1us noise 2us
	refused 1 'the range is' profile set noise 0
	refused 1 'fluct_ns 9999999999: the range is 0ns to 50ms' profile set fluct_ns 9999999999
	refused 1 'noise 100s: the range is 1ns to 50ms' profile set noise 100s
	refused 1 'gso_segs 99999999999999999999: an integer' profile set gso_segs 99999999999999999999
	refused 1 'the range is' profile set gso_segs 65
	refused 1 'an integer is wanted' profile set gso_segs 5us
	refused 1 'which one?' profile del
	refused 1 'dst any:' profile set dst any fluct 4us
	refused 2 'no profile for 10.0.0.0/8' profile show dst 10.0.0.0/8
	refused 2 'profile del: ' profile del dst 10.0.0.0/8
	json profile_show -n ca profile show > /run/a
	expect "profiles" "$(jq length /run/a)" -eq 1
	expect "names" "$(jq -r '.[0].settings | keys[]' /run/a | sort)" = "$(in_ns ca find /proc/sys/net/fairlane -type f ! -name off ! -name share_permille | sed 's|.*/||' | sort)"
	expect "for researchers" "$(jq -r '.[0].settings | map_values(select(.research)) | keys[]' /run/a | sort)" \
		= "$(in_ns ca ls /proc/sys/net/fairlane/research | sort)"
	accepted profile show
	expect "heading" "$(sed -n '/^ research$/,$p' /run/out | grep -c 'fluct_ns')$(sed '/^ research$/,$d' /run/out | grep -c 'noise_ns')" = 11
	expect "from" "$(jq -r '.[0].settings | [.fluct_ns.from, .base_rtt_ns.from, .gso_segs.from, .ai_bytes.from] | join(" ")' /run/a)" \
		= 'set measured derived default'
	accepted profile set fluct 4us noise_ns 900
	expect "sysctl shows it" "$(in_ns ca sysctl -n net.fairlane.research.fluct_ns net.fairlane.noise_ns | xargs)" = '4000 900'
	expect "a setting taken back" "$(json empty -n ca profile set fluct default)" = '{}'
	expect "taken back" "$(in_ns ca sysctl -n net.fairlane.research.fluct_ns)" = 3200
	accepted profile set dst 10.0.0.0/8 base_rtt 12us
	accepted profile set dst fd00::/16 base_rtt_ns 15000 line_rate 10gbit
	json profile_show -n ca profile show > /run/a
	expect "profiles" "$(jq -c 'map(.dst) | sort' /run/a)" = '[null,"10.0.0.0/8","fd00::/16"]'
	expect "from" "$(jq -r '.[] | select(.dst == "10.0.0.0/8").settings.base_rtt_ns | "\(.value) \(.from)"' /run/a)" = '12000 profile'
	fl profile show dst 10.0.0.0/8 | grep -q 'base_rtt_ns  *12us  *profile' || fault "text: $(fl profile show)"
	accepted profile del dst fd00::/16
	expect "profiles" "$(json profile_show -n ca profile show | jq length)" -eq 2
	expect "of another namespace" "$(json profile_show -n cb profile show | jq length)" -eq 1
}

test_limits()
{
	sinks 5201
	refused 1 'nothing to set' limits set
	refused 1 'prio 16:' limits set prio 16
	refused 1 'budget 0:' limits set budget 0
	refused 1 '"prio" twice' limits set prio 3 prio 4
	refused 1 '"budget" twice' limits set budget 3 budget none
	refused 1 '"budget W"' limits set uid root
	refused 1 'cgroup: it is not UTF-8' limits set cgroup $'/a\377' budget 5
	refused 1 '"cgroup" needs a value' limits set cgroup '' budget 5
	refused 1 'no such user' limits set uid nobody-at-all budget 5
	refused 1 'what is "prio"?' limits set uid root budget 5 prio 3
	refused 1 'uid or cgroup comes first' limits set prio 3 uid root budget 5
	refused 2 'limits set uid root: it has no budget' limits set uid root budget none
	accepted limits set prio 4 weight 3 budget 20
	accepted limits set uid 65534 budget 5.5
	json limits_show -n ca limits show > /run/a
	expect "limits" "$(jq -c '[.prio, .weight, .budget]' /run/a)" = '[4,3,20]'
	expect "budget" "$(jq -c '.uids[] | select(.uid == 65534) | .budget' /run/a)" = 5.5
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups \
		fairlane run --prio 5 -- true > /run/out 2>&1
	expect "exit status above the limit" $? -eq 2
	grep -q 'above the limit for users' /run/out || fault "above the limit: $(cat /run/out)"
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane run --prio 4 -- true ||
		fault "within the limit"
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane limits set prio 15 > /run/out 2>&1
	expect "exit status without privilege" $? -eq 2
	grep -q 'needs CAP_NET_ADMIN' /run/out || fault "without privilege: $(cat /run/out)"
	without_right 'needs CAP_NET_ADMIN' monitor timeout 1ms
	without_right 'off: Permission denied (needs root' off
	without_right 'Operation not permitted (entering one needs root)' off all
	without_right 'Permission denied (entering one needs root)' -n 1 flow show
	without_right 'taking settings back: policy flush: Operation not permitted (needs CAP' restore /dev/null
	accepted limits set prio default weight default budget none
	accepted limits set uid 65534 budget none
	expect "default" "$(json limits_show -n ca limits show | jq -c '[.prio, .weight, .budget, .uids]')" = '[6,10,null,[]]'
}

test_off()
{
	sinks 5201
	# not by in_ns, whose shell would be killed instead
	ip netns exec ca iperf3 -c 10.0.2.1 -C prioplus -t 100 > /dev/null 2>&1 &
	sender=$!
	sleep 0.1
	json off -n ca off > /run/a
	# the connection with iperf3's words has our control, too
	expect "taken" "$(jq -c '[.off, .off_flows >= 1, .off_waiting]' /run/a)" = '[true,true,0]'
	json flow_show -n ca flow show > /run/a
	expect "shown" "$(jq -r '[.[] | select(.had_cc == "prioplus") | .cc] | unique[]' /run/a)" = cubic
	expect "flags" "$(jq -r '[.[] | select(.had_cc) | .flags | index("off") != null] | unique[]' /run/a)" = true
	expect "in stats" "$(json stats -n ca stats | jq .off)" -eq 1
	expect "on" "$(fl on)" = 'on: sockets have their congestion controls back'
	expect "shown" "$(fl -j flow show | jq -r '[.[] | select(.had_cc)] | length')" -eq 0
	refused 1 'what is "nonsense"?' off nonsense
	# its data arrives while there is a network
	kill $sender
	wait $sender
	sleep 1
}

test_stats()
{
	local before

	before=$(json stats -n ca stats | jq .changes)
	sinks 5201
	open_flow 10.0.2.1 5201
	accepted flow set dport 5201 prio 2
	expect "changes" "$(json stats -n ca stats | jq .changes)" -eq $((before + 1))
	refused 1 'a format of its own' -j metrics
	fl metrics > /run/a || fault "openmetrics"
	expect "last line" "$(tail -n 1 /run/a)" = '# EOF'
	# Every sample has its family's HELP and TYPE before it, names and values are valid.
	awk '
		/^# (HELP|TYPE) / { if ($2 == "TYPE") type[$3] = $4; else help[$3] = 1; next }
		/^# EOF$/ { next }
		!/^[a-z_]+({([a-z_]+="[^"]*",?)+})? [0-9.]+$/ { print "bad line: " $0; next }
		{
			name = $1; sub(/{.*/, "", name)
			family = name; sub(/_total$/, "", family)
			if (!(family in type) || !(family in help)) print "no family: " $0
			if (type[family] == "counter" && name !~ /_total$/) print "counter without _total: " $0
		}' /run/a > /run/b
	[ ! -s /run/b ] || fault "openmetrics: $(cat /run/b)"
	grep -q '^fairlane_connections{cc="cubic",prio="2",state="none"} 1$' /run/a || fault "no flow in openmetrics"
	(umask 077 && fl metrics /run/prom) || fault "metrics into a file"
	expect "mode of a new file" "$(stat -c %a /run/prom)" = 644
	# who else may write in that folder may know the name under which it is written
	echo victim > /run/victim
	sh -c 'ln -s victim "/run/prom.$$"; exec fairlane metrics /run/prom' || fault "metrics beside a link"
	expect "what the link leads to" "$(cat /run/victim)" = victim
	expect "the file" "$(stat -c %F /run/prom)" = 'regular file'
	accepted metrics /dev/null
	[ -c /dev/null ] || fault "/dev/null is no device any more"
}

# Switches with a congested port, and a border router whose queues fill.
test_fabric_show()
{
	load_modules sch_fabric tcp_mlcc
	for n in west east; do
		tc -n cr qdisc del dev $n root
	done
	expect "neither" "$(json fabric_show -n cr fabric show)" = '[]'
	# the port to cb is slower than that from ca: a root after a few packets
	lablink-ctl set east netns cr rate 200mbit || fault "rate"
	tc -n cr qdisc add dev west root handle 1: fabric switch 3 switch-port 0 frames tell band 1 queue isolate || fault "west"
	tc -n cr qdisc add dev east root handle 1: fabric switch 3 switch-port 1 hop-rtt 10us band 1 queue isolate || fault "east"
	printf 'switch 3\0\nroute 3 port 0 to 10.0.1.0/24\n' > /run/routes
	fairlane -n cr fabric load /run/routes > /run/out 2>&1
	expect "exit status with a NUL byte" $? -eq 1
	printf '%s\n' 'switch 3' 'route 3 port 0 to 10.0.1.0/24' 'route 3 port 1 to 10.0.2.0/24' > /run/routes
	expect "loaded" "$(json fabric_load -n cr fabric load /run/routes)" = '{"switches":1,"prefixes":2,"told":1}'
	fairlane -n cr fabric load /run/routes > /run/out || fault "load: $(cat /run/out)"
	# what is wrong with a line, by the word's name; a file of others' switches
	while IFS=: read -r line says; do
		printf '%s\n' "$line" | in_ns cr fairlane fabric load - > /run/out 2>&1
		expect "exit status of $line" $? -eq 1
		grep -qF "load: -:1: $says" /run/out || fault "$line: says $(cat /run/out), not: $says"
	done <<- 'END'
		switch:a number from 1 to 4294967295 is wanted for "switch"
		switch x:a number from 1 to 4294967295 is wanted for "switch", not "x"
		switch 1 policy 4:a number from 0 to 3 is wanted for "policy", not "4"
		switch 1 seed:a number from 1 to 4294967295 is wanted for "seed"
		switch 1 fields 0x40:a number from 1 to 55 is wanted for "fields", not "0x40"
		switch 1 policy 0 policy 1:policy, fields or seed stands twice
		route 1 port 0*257 to 10.0.0.0/8:a number from 1 to 256 is wanted for "weight", not "257"
		route 1 port 65536 to 10.0.0.0/8:a number from 0 to 65535 is wanted for "port", not "65536"
		route 0 port 1 to 10.0.0.0/8:a number from 1 to 4294967295 is wanted for "route", not "0"
	END
	printf '%s\n' 'switch 4' 'route 4 port 0 to 10.0.1.0/24' | in_ns cr fairlane fabric load - > /run/out 2>&1
	expect "exit status without a switch" $? -eq 2
	grep -qF 'none of its 1 switches is in this namespace' /run/out || fault "without a switch: $(cat /run/out)"
	flowgen -f ca -t cb -a 10.0.2.1 -p 5301 -c cubic -b -1 -L 60 > /dev/null &
	sleep 0.03
	json fabric_show -n cr fabric show > /run/a
	expect "switch" "$(jq -c '[.[] | [.switch, .ports, .paths]]' /run/a)" = '[[3,[0,1],2]]'
	expect "root" "$(jq -c '.[0].roots | map([.root, .distance])' /run/a)" = '[["3:1",0]]'
	wait $!
	for n in west east; do
		tc -n cr qdisc del dev $n root
	done
	tc -n cr qdisc add dev west root handle 1: fabric limit 8mb stamp load role lan host-rate 1gbit || fault "role lan"
	tc -n cr qdisc add dev east root handle 1: fabric limit 8mb stamp load role wan || fault "role wan"
	flowgen -f cb -t ca -a 10.0.1.1 -p 5302 -c mlcc -n 2 -b -1 -L 60 > /dev/null &
	sleep 0.03
	json fabric_show -n cr fabric show > /run/a
	expect "router" "$(jq -c '[.[] | [.border.connections > 0, [.ports[].role]]]' /run/a)" = '[[true,["lan","wan"]]]'
	expect "hosts and connections" "$(jq -c '[.[].ports[].hosts | arrays[] | [.host, (.flows | length)]]' /run/a)" = '[["10.0.1.1",2]]'
	wait $!
	# test_check_report wants none of our controls
	for module in tcp_mlcc tcp_hpcc; do
		remove_module $module 30 10 || fault "$module stays in use"
	done
}

test_monitor()
{
	local watcher

	refused 1 'count 0:' monitor count 0
	refused 1 '"timeout" twice' monitor timeout 1s timeout 2s
	refused 1 'timeout 5: a time' monitor timeout 5
	refused 1 'what is "nonsense"?' monitor nonsense
	sinks 5201
	open_flow 10.0.2.1 5201
	json monitor -n ca monitor timeout 2s > /run/events &
	watcher=$!
	sleep 0.1
	accepted flow set dport 5201 prio 5
	accepted flow set dport 5201 weight 2.5
	accepted policy add order 7 dport 1 prio 1
	accepted policy del order 7
	accepted profile set noise 2us
	accepted limits set prio 3
	accepted limits set uid 65534 budget 5
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane run --prio 9 -- true 2> /dev/null
	wait "$watcher"
	expect "kinds" "$(jq -r .kind /run/events | xargs)" = 'flow flow policy_add policy_del profile limits budget refused'
	expect "flow" "$(jq -sc '.[0] | [.what, .old, .new, .old_from, .new_from, .flow.dport, .by.uid, .by.name]' /run/events)" \
		= '["prio",0,5,"so_priority","netlink",5201,0,"fairlane"]'
	expect "weight" "$(jq -sc '.[1] | [.what, .old, .new]' /run/events)" = '["weight",1,2.5]'
	expect "profile" "$(jq -sc '.[4] | [.what, .old, .new]' /run/events)" = '["noise_ns",10000,2000]'
	expect "limits" "$(jq -sc '.[5] | [.what, .new]' /run/events)" = '["prio",3]'
	expect "budget" "$(jq -sc '.[6] | [.uid_of, .new]' /run/events)" = '[65534,5]'
	expect "refusal" "$(jq -sc '.[7] | [.what, .new, .by.uid]' /run/events)" = '["prio",9,65534]'
	expect "no gaps" "$(jq -s '[.[].seq] | (last - first + 1) == length' /run/events)" = true
	# A filter, a count, and text.
	fl monitor policy count 1 timeout 2s > /run/events &
	watcher=$!
	sleep 0.1
	accepted flow set dport 5201 prio 6
	accepted policy add order 8 prio 1
	wait "$watcher"
	grep -qE '^2[0-9-]+T[0-9:.]+Z policy_add order 8 by uid 0 pid [0-9]+ fairlane$' /run/events ||
		fault "text: $(cat /run/events)"
	expect "lines" "$(wc -l < /run/events)" -eq 1
	# Everybody names his processes: with what would wipe out the line before, too.
	cp "$(command -v fairlane)" $'/run/x\e[1A\e[2K\ny' || fault "no copy"
	fl monitor count 1 timeout 2s > /run/events &
	watcher=$!
	sleep 0.1
	in_ns ca $'/run/x\e[1A\e[2K\ny' flow set dport 5201 prio 5 > /run/out 2>&1 || fault "$(cat /run/out)"
	wait "$watcher"
	grep -q ' by uid 0 pid [0-9]* x?\[1A?\[2K?y$' /run/events || fault "a name: $(cat -v /run/events)"
	# shellcheck disable=SC2016 # of the other shell
	in_ns ca bash -c 'exec 5<> /dev/tcp/10.0.2.1/5201; printf "x\e[2Ky" > /proc/self/comm; : > /run/ready; sleep 2; :' &
	until [ -e /run/ready ]; do sleep 0.01; done
	fl -d flow show dport 5201 > /run/out
	grep -q ' x?\[2Ky\[[0-9]*\] fd 5' /run/out || fault "a process: $(cat -v /run/out)"
	wait $!
}

test_save_restore()
{
	accepted limits set prio 5 weight 12.5 budget 100
	accepted limits set uid 33 budget 7.25
	accepted profile set share 2us gso_segs 2
	accepted profile set dst 10.2.0.0/16 base_rtt 12us line_rate 25gbit
	accepted profile set dst fd00:7::/32 noise 700ns
	accepted policy add order 10 when accept family ipv6 sport 80-90 weight 0.001
	accepted policy add order 20 when connect src 10.0.1.0/24 dst 10.0.2.1 dport 443 uid 33-40 cc prioplus \
		prio 15 weight 1000 base-rtt 12.5us line-rate 1.6tbit deadline 1s comment 'a "b" # \c'\''s'
	fl save > /run/one || fault "save"
	json save -n ca save > /run/json-one
	# Other settings; what is not in the file must go.
	accepted policy flush
	accepted policy add order 99 prio 1
	accepted profile set dst 10.9.0.0/16 noise 1us
	accepted profile del dst 10.2.0.0/16
	accepted profile set paper 1 gso_segs 5
	accepted limits set uid 34 budget 1
	accepted restore /run/one
	fl save > /run/two
	cmp -s /run/one /run/two || fault "not the same: $(diff /run/one /run/two)"
	json save -n ca save | jq -S 'del(.. | .hits?)' > /run/json-two
	jq -S 'del(.. | .hits?)' /run/json-one | cmp -s - /run/json-two || fault "not the same in JSON"
	# By way of a file, of stdin, and into another namespace.
	accepted save /run/three
	grep -v '^#' /run/three | cmp -s - /run/one || fault "a saved file is different: $(cat /run/three)"
	# What is there keeps its mode, links and devices stay what they are.
	chmod 600 /run/three
	ln -sf three /run/link
	accepted save /run/link
	expect "a link and its file" "$(readlink /run/link) $(stat -c %a /run/three)" = 'three 600'
	accepted save /dev/null
	[ -c /dev/null ] || fault "/dev/null is no device any more"
	refused 2 '/dev/full: No space left' save /dev/full
	fairlane -n cb restore < /run/one || fault "restore of stdin"
	fairlane -n cb save | cmp -s - /run/one || fault "not the same in another namespace"
	in_ns ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane restore /run/one > /run/out 2>&1
	expect "exit status of a user" $? -eq 2
	grep -q 'everything is as it was before' /run/out || fault "a user: $(cat /run/out)"
	# What the unit does when it stops.
	accepted restore /dev/null
	fl save | grep -qv '^limits set prio 6 weight 10 budget none$' && fault "stopped, and there is $(fl save)"
	accepted restore /run/one
	# Bad lines: of the tool, of the kernel. Nothing is lost.
	{ cat /run/one; echo 'policy add order 30 prio 16'; } > /run/wrong
	refused 1 '/run/wrong line 8: prio 16' restore /run/wrong
	{ cat /run/one; echo 'policy add order 20 prio 1'; } > /run/wrong
	refused 2 'everything is as it was before' restore /run/wrong
	grep -q '/run/wrong line 8: policy add: ' /run/out || fault "which line: $(cat /run/out)"
	echo 'policy add comment "open' > /run/wrong
	refused 1 'a quote is not closed' restore /run/wrong
	echo 'flow set all prio 1' > /run/wrong
	refused 1 'only "policy add"' restore /run/wrong
	refused 1 'No such file' restore /run/nothing
	refused 1 'line 1: ' restore --check /run/wrong
	printf 'limits set prio 3\n\0\nnonsense\n' > /run/wrong
	refused 1 '/run/wrong: it has a NUL byte' restore --check /run/wrong
	refused 1 '/run/wrong: it has a NUL byte' restore /run/wrong
	accepted restore --check /run/one
	fl save | cmp -s - /run/one || fault "a refused file has changed something: $(fl save | diff - /run/one)"
	# An empty file is no settings at all.
	accepted restore /dev/null
	expect "after an empty file" "$(fl save)" = 'limits set prio 6 weight 10 budget none'
}

test_check_report()
{
	in_ns ca fairlane -j check > /run/check
	expect "exit status of check" $? -eq 0
	json check -n ca check > /run/check
	json noise -n ca noise measure self count 1000 line-rate 10gbit > /dev/null
	expect "problems" "$(jq '[.[] | select(.verdict == "problem")] | length' /run/check)" -eq 0
	expect "fairlane" "$(jq -r '.[] | select(.check == "fairlane").verdict' /run/check)" = ok
	expect "device" "$(jq -r '[.[] | select(.check == "dev e0")][0].text' /run/check | cut -d, -f1-2)" = 'MTU 1500, 1gbit'
	ip -n ca link add v0 type veth peer name v1
	ip -n ca link set v0 up
	fairlane -n ca -j check > /run/check
	expect "a veth's speed" "$(jq -r '.[] | select(.check == "dev v0" and .verdict == "note").cure' /run/check)" \
		= 'fairlane profile set line_rate RATE'
	ip -n ca link del v0
	# Each thing that is put out of order is found, with a cure.
	for key in tcp_timestamps tcp_sack tcp_dsack; do
		in_ns ca sysctl -q -w net.ipv4."$key"=0
		fairlane -n ca -j check > /run/check
		expect "exit status with $key=0" $? -eq 3
		expect "$key=0" "$(jq -r ".[] | select(.verdict == \"problem\") | .check, .cure" /run/check | xargs)" \
			= "$key sysctl net.ipv4.$key=1"
		in_ns ca sysctl -q -w net.ipv4."$key"=1
	done
	in_ns ca fairlane off > /run/a
	fairlane -n ca -j check > /run/check
	expect "exit status while it is off" $? -eq 3
	expect "it is off" "$(jq -r '.[] | select(.verdict == "problem") | .check, .cure' /run/check | xargs)" = "off fairlane on"
	in_ns ca fairlane on share 5% > /run/a
	fairlane -n ca -j check > /run/check
	expect "exit status with a share" $? -eq 0
	expect "a share" "$(jq -r '.[] | select(.check == "off") | .verdict + " " + .text' /run/check)" \
		= "note of the connections 50 of 1000 have our congestion controls, others the system's"
	in_ns ca fairlane on > /run/a
	# Sockets of the tests before end in the background, those whose network is gone only
	# after their last retransmission: some 100 s.
	for module in tcp_prioplus tcp_ledbat tcp_swift; do
		remove_module $module 30 10 || fault "$module stays in use"
	done
	fairlane -n ca -j check > /run/check
	expect "exit status without control" $? -eq 3
	expect "without control" "$(jq -r '.[] | select(.verdict == "problem").check' /run/check)" = controls
	load
	(cd /run && json report -n ca report /run/report.txt > /run/a)
	expect "report" "$(jq -r .file /run/a)" = /run/report.txt
	for word in '==== check' '==== flows' '==== kernel log' 'net.fairlane.research.fluct_ns'; do
		grep -qF "$word" /run/report.txt || fault "report lacks $word"
	done
	refused 2 'File exists' report /run/report.txt
	mkdir -p /run/small && mount -t tmpfs -o size=8k none /run/small
	refused 2 'report.txt:' report /run/small/report.txt
	[ ! -e /run/small/report.txt ] || fault "a part of a report is left"
	umount /run/small
	fl report - > /run/report
	grep -q '==== versions' /run/report || fault "report on stdout"
}

test_run()
{
	sinks 5201
	refused 1 'which command?' run --prio 5 --
	refused 1 'nothing to set' run -- true
	refused 1 'no option "--nonsense"' run --nonsense 5 -- true
	refused 1 'prio 77:' run --prio 77 -- true
	refused 1 'prio 77:' run --prio=77 -- true
	! grep -q default /run/out || fault "offers what is refused: $(cat /run/out)"
	refused 1 'prio default: leave it out' run --prio default -- true
	refused 1 '"prio" twice' run --prio=1 --prio 2 -- true
	refused 1 '"--cc" twice' run --cc reno --cc=cubic -- true
	refused 1 '"--cc" twice' run --cc reno --cc cubic -- true
	refused 2 '--cc nonsense: No such file' run --cc nonsense -- true
	refused 127 'no such command' run --prio 5 -- /run/nothing
	fl run --prio 5 -- sh -c 'exit 42'
	expect "exit status of the command" $? -eq 42
	# The environment goes on to children; both families; not to other sockets.
	fl run --prio 5 --weight=2.5 --cc prioplus --base-rtt 20us --line-rate 1gbit --deadline 3ms -- bash -c \
		'bash -c "exec 5<> /dev/tcp/10.0.2.1/5201; sleep 1000" & exec 6<> /dev/tcp/fd00:2::1/5201; sleep 1000' &
	pids+=($!)
	sleep 0.1
	json flow_show -n ca flow show dport 5201 > /run/a
	expect "settings of both" "$(jq -c 'map([.prio, .weight, .cc, .base_rtt_ns, .line_rate_mbps, .deadline_us, .from.prio]) | unique' /run/a)" \
		= '[[5,2.5,"prioplus",20000,1000,3000,"setsockopt"]]'
	expect "flows" "$(jq length /run/a)" -eq 2
	# its child is not ours
	kill "$(json flow_show -n ca -d flow show dst 10.0.0.0/8 | jq '.[0].processes[0].pid')"
}

# Time in ms that curl took, from its output.
total_ms() { awk '{ print int($1 * 1000) }' "$1"; }

# 12.5 MB are 100 ms of 1 Gbit/s, some 5 % of it headers.
test_iperf3()
{
	local low high

	sinks 5201 5202
	fl run --prio 1 --cc prioplus -- iperf3 -c 10.0.2.1 -p 5201 -n 50M -J > /run/low &
	low=$!
	sleep 0.05
	fl run --prio 5 --cc prioplus -- iperf3 -c 10.0.2.1 -p 5202 -n 25M -J > /run/high &
	high=$!
	sleep 0.1
	# The data's socket is the younger one of two.
	expect "low" "$(json flow_show -n ca flow show dport 5201 | jq -c 'max_by(.tcp.acked_bytes) | [.prio, .cc, .state]')" \
		= '[1,"prioplus","stopped"]'
	expect "high" "$(json flow_show -n ca flow show dport 5202 | jq -c 'max_by(.tcp.acked_bytes) | [.prio, .cc, .state]')" \
		= '[5,"prioplus","sending"]'
	expect "delay of the high one, base RTT to twice its limit" "$(json flow_show -n ca flow show dport 5202 |
		jq -c 'max_by(.tcp.acked_bytes) | .delay_ns > .base_rtt_ns * .9 and .delay_ns < 2 * .limit_ns')" = true
	# ... of both at once, while it runs: the low one takes over, within 2 RTTs
	wait "$low" "$high"
	sleep 1
	# Alone 0.21 s for the high one, and its predecessor gets the rest.
	expect "rate of the high one, Mbit/s" "$(jq '.end.sum_sent.bits_per_second / 1e6 | floor' /run/high)" -ge 880
	expect "time of the low one, ms" "$(jq '.end.sum_sent.seconds * 1000 | floor' /run/low)" -ge 600
	expect "time of the low one, ms" "$(jq '.end.sum_sent.seconds * 1000 | floor' /run/low)" -le 720
}

# nginx with its files in /run/nginx-$1, on ports.
nginx_config()
{
	local name=$1 port

	shift
	mkdir -p "/run/nginx-$name"
	truncate -s 12500000 "/run/nginx-$name/file"
	{
		printf 'user root;\nworker_processes 1;\ndaemon off;\nerror_log /run/nginx-%s/error.log;\npid /run/nginx-%s/pid;\n' "$name" "$name"
		printf 'events { worker_connections 64; }\nhttp {\naccess_log off;\nclient_max_body_size 0;\n'
		for word in client_body proxy fastcgi uwsgi scgi; do
			printf '%s_temp_path /run/nginx-%s/%s;\n' "$word" "$name" "$word"
		done
		printf 'server {\n'
		for port in "$@"; do
			printf 'listen %s;\nlisten [::]:%s;\n' "$port" "$port"
		done
		printf 'root /run/nginx-%s;\nlocation /sink { return 200; }\n}\n}\n' "$name"
	} > "/run/nginx-$name/conf"
}

# Gets a file from ca's port $1 to cb; its time goes to /run/time-$1.
get()
{
	in_ns cb curl -s -o /dev/null -w '%{time_total} %{http_code} %{size_download}\n' "http://10.0.1.1:$1/file" > "/run/time-$1"
}

# Two downloads at once, the one from port 8081 first: 8080 has the higher priority.
two_downloads()
{
	local low high

	get 8081 &
	low=$!
	sleep 0.02
	get 8080 &
	high=$!
	sleep 0.02
	expect "high ($1)" "$(json flow_show -n ca flow show sport 8080 | jq -c '.[0] | [.prio, .cc, .state]')" \
		= '[6,"prioplus","sending"]'
	expect "low ($1)" "$(json flow_show -n ca flow show sport 8081 | jq -c '.[0] | [.prio, .cc, .state]')" \
		= '[2,"prioplus","stopped"]'
	wait "$low" "$high"
	sleep 0.5
	expect "answers" "$(cut -d' ' -f2,3 /run/time-8080 /run/time-8081 | xargs)" = '200 12500000 200 12500000'
	# Alone each takes 106 ms; sharing fairly the second one would take about 190.
	expect "time of the high one, ms ($1)" "$(total_ms /run/time-8080)" -le 120
	expect "time of the low one, ms ($1)" "$(total_ms /run/time-8081)" -ge 200
	expect "time of the low one, ms ($1)" "$(total_ms /run/time-8081)" -le 240
}

test_nginx()
{
	nginx_config high 8080
	nginx_config low 8081
	fl run --prio 6 --cc prioplus -- nginx -c /run/nginx-high/conf &
	pids+=($!)
	fl run --prio 2 --cc prioplus -- nginx -c /run/nginx-low/conf &
	pids+=($!)
	sleep 0.1
	two_downloads run
	expect "from" "$(json flow_show -n ca flow show sport 8080 state listening | jq -r '.[0].from.prio')" = setsockopt
}

test_nginx_policy()
{
	nginx_config both 8080 8081
	in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=prioplus
	accepted policy add when accept sport 8080 prio 6
	accepted policy add when accept sport 8081 prio 2
	in_ns ca nginx -c /run/nginx-both/conf &
	pids+=($!)
	sleep 0.1
	two_downloads policy
	expect "hits" "$(json policy_show -n ca policy show | jq -c 'map(.hits)')" = '[1,1]'
}

# curl uploads from ca to cb: by run, then by a policy.
upload()
{
	in_ns ca "${@:2}" curl -s -o /dev/null -H Expect: -w '%{time_total} %{http_code} %{size_upload}\n' \
		-T /run/nginx-sink/file "http://10.0.2.1:$1/sink" > "/run/time-$1"
}

test_curl()
{
	local way low high

	nginx_config sink 8080 8081
	in_ns cb nginx -c /run/nginx-sink/conf &
	pids+=($!)
	sleep 0.1
	for way in run policy; do
		if [ "$way" = run ]; then
			upload 8081 fairlane run --prio 2 --cc prioplus -- &
			low=$!
			sleep 0.02
			upload 8080 fairlane run --prio 6 --cc prioplus -- &
			high=$!
		else
			in_ns ca sysctl -q -w net.ipv4.tcp_congestion_control=prioplus
			accepted policy add when connect dport 8080 prio 6
			accepted policy add when connect dport 8081 prio 2
			upload 8081 env &
			low=$!
			sleep 0.02
			upload 8080 env &
			high=$!
		fi
		sleep 0.02
		expect "high ($way)" "$(json flow_show -n ca flow show dport 8080 | jq -c '.[0] | [.prio, .state]')" = '[6,"sending"]'
		expect "low ($way)" "$(json flow_show -n ca flow show dport 8081 | jq -c '.[0] | [.prio, .state]')" = '[2,"stopped"]'
		wait "$low" "$high"
		sleep 0.5
		expect "time of the high one, ms ($way)" "$(total_ms /run/time-8080)" -le 120
		expect "time of the low one, ms ($way)" "$(total_ms /run/time-8081)" -ge 200
		expect "time of the low one, ms ($way)" "$(total_ms /run/time-8081)" -le 240
	done
}

# A change on a live flow acts: who was below is above.
test_live_change()
{
	local first second

	sinks 5201 5202
	fl run --prio 3 --cc prioplus -- iperf3 -c 10.0.2.1 -p 5201 -n 50M > /dev/null &
	first=$!
	fl run --prio 1 --cc prioplus -- iperf3 -c 10.0.2.1 -p 5202 -n 50M > /dev/null &
	second=$!
	sleep 0.1
	expect "before" "$(json flow_show -n ca flow show dport 5202 | jq -r 'max_by(.inode).state')" = stopped
	accepted flow set dport 5202 all prio 6
	sleep 0.01
	expect "after" "$(json flow_show -n ca flow show dport 5202 | jq -r 'max_by(.inode).state')" = sending
	expect "the other" "$(json flow_show -n ca flow show dport 5201 | jq -r 'max_by(.inode).state')" = stopped
	wait "$first" "$second"
}

# Commands under valgrind: no bad access, nothing lost. (pid and fd are left out: this
# valgrind does not know pidfd_getfd.)
test_valgrind()
{
	local words

	sinks 5201
	open_flow 10.0.2.1 5201
	accepted policy add order 5 dport 5201 prio 3 comment x
	accepted profile set dst 10.0.0.0/8 noise 1us
	fl save > /run/one
	while read -r -a words; do
		in_ns ca valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
			--errors-for-leak-kinds=definite fairlane "${words[@]}" > /run/out 2>&1
		expect "valgrind fairlane ${words[*]}" $? -eq 0
		! grep -q '^==' /run/out || fault "$(grep '^==' /run/out | head -n 12)"
	done << EOF
-d flow show state all
-j -d flow show
flow set dport 5201 prio 4
flow watch count 2 interval 1ms
policy show
-j policy show
policy replace order 5 dport 5201 prio 3 comment y
policy apply
profile show
-j profile show
limits show
metrics
-j stats
monitor timeout 1ms
save
restore /run/one
-j check
run --prio 5 -- true
EOF
}

# shellcheck disable=SC1091 # looked at by itself
. ./apply.sh
trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load || exit 1
tests=${*:-flow_show flow_refusals flow_set policy profile limits stats off fabric_show monitor save_restore
	apply apply_refusals apply_loads_control apply_port_fails apply_one_cannot_be_seen apply_new_namespace apply_late_namespace apply_undo_leaves_alone apply_check apply_room apply_budget gone_cgroups classes long_paths flow_cc units recipes
	check_report run iperf3 nginx nginx_policy curl live_change valgrind}
# shellcheck disable=SC2086 # words
run_tests "${FIRST:-1}" $tests
