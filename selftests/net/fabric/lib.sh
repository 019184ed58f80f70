# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of sch_fabric under traffic share, sourced beside ../../lib/guest.sh. Two
# namespaces fa and fb with two links; the port under test is e0 of fa. Meant for virtual time
# (the lab); needs root, tc, jq and the helpers in the folder $HELPERS.
: "${HELPERS:?folder of fabric_send and fabric_packet}"
SEND=$HELPERS/fabric_send PACKET=$HELPERS/fabric_packet FUZZ=$HELPERS/fabric_fuzz

drop_net() { drop_nodes fa fb; }
trap drop_net EXIT

net()
{
	drop_net
	ip netns add fa && ip netns add fb &&
	for dev in e0 e1; do
		ip link add $dev netns fa type veth peer name $dev netns fb
		ip -n fa link set $dev up
		ip -n fb link set $dev up
	done
	ip -n fa addr add 10.0.0.1/24 dev e0
	ip -n fb addr add 10.0.0.2/24 dev e0
	ip -n fa addr add 10.0.1.1/24 dev e1
	ip -n fb addr add 10.0.1.2/24 dev e1
	for i in 0 1; do
		mac=$(ip -n fb -j link show e$i | jq -r '.[0].address')
		ip -n fa neigh replace 10.0.$i.2 lladdr "$mac" dev e$i
	done
	# Answers to what nobody listens to would be traffic too, as would be what IPv6 says of
	# itself; the tests' own IPv6 packets are sent as frames.
	for n in fa fb; do
		in_ns $n sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
	done
	ip netns exec fb sysctl -q -w net.ipv4.icmp_ratelimit=1000000000 \
		net.ipv4.icmp_ratemask=8
	sleep 0.01
}

# Settings of the port.
port() { tc -n fa qdisc replace dev e0 root handle 1: fabric "$@"; }
band() { b=$1; shift; tc -n fa class change dev e0 classid "1:$(printf %x "$b")" fabric "$@"; }
send() { ip netns exec fa "$SEND" udp 10.0.0.2 "$@"; }

# A jq expression over the counters of the port, or of band $1.
stat() { tc -n fa -s -j qdisc show dev e0 | jq -r ".[0] | $1"; }
cls() { stat ".fabric.bands[$1 - 1] | $2"; }

# near WHAT VALUE WANT PERMILLE
near()
{
	expect "$1" $(($2 * 1000)) -ge $(($3 * (1000 - $4)))
	expect "$1" $(($2 * 1000)) -le $(($3 * (1000 + $4)))
}

# After the traffic nothing may be left in any count.
empty()
{
	sleep "${1:-1}"
	expect "qlen, backlog, waiting and on line left" \
		"$(stat '[.qlen, .backlog, .fabric.backlog_bytes, .fabric.line_packets] | join(" ")')" = "0 0 0 0"
}

# The qdisc, the device and with them the switch go with packets that wait. $1 makes the port,
# $2 has its packets wait.
port_goes()
{
	for how in "tc -n fa qdisc del dev e0 root" "ip -n fa link set e0 down" \
		   "tc -n fa qdisc replace dev e0 root handle 2: pfifo" "ip -n fa link del e0"; do
		tc -n fa qdisc del dev e0 root 2>/dev/null
		ip -n fa link set e0 up
		ip -n fa neigh replace 10.0.0.2 dev e0 \
			lladdr "$(ip -n fb -j link show e0 | jq -r '.[0].address')"
		$1
		$2
		send 20 0:1000
		expect "waiting" "$(cls 1 .backlog_packets)" -eq 20
		$how || fault "$how"
		sleep 0.01
		[ "$how" = "ip -n fa link set e0 down" ] ||
			expect "no switch after $how" "$(ip netns exec fa fairlane -j fabric show)" = "[]"
	done
}

# Whose tests these are, after one that has failed.
show_state()
{
	tc -n fa -s qdisc show dev e0
	tc -n fa -s class show dev e0
}

# Runs the functions test_* of the files $1 (words): those that "$2..." names, or,
# after a first "-", all but those.
run_tests_of()
{
	files=$1
	shift
	# shellcheck disable=SC2086 # words
	tests=$(sed -n 's/^test_\([a-z0-9_]*\)()$/\1/p' $files)
	case ${1-} in
	'') ;;
	-) tests=$(echo "$tests" | grep -vxF -e "$(printf '%s\n' "$@")") ;;
	*) tests=$* ;;
	esac
	out=$(mktemp)
	# shellcheck disable=SC2086 # words
	run_tests 1 $tests
	status=$?
	rm -f "$out"
	return $status
}
