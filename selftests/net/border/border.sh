#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317 # jq; words; called by name
#
# Border routers on live sockets, in virtual time:
#
#	ba --- b1 ------ b2 --- bb	10 Gbit/s, 500 us between b1 and b2, 1 Gbit/s to bb
#
# Names of tests as arguments select. Needs root, lablink, sch_fabric, tcp_hpcc, tcp_mlcc, ip,
# tc, jq and, in PATH, flowgen and lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"

drop_net() { drop_nodes ba b1 b2 bb; }
trap drop_net EXIT

# Namespace, device, address of it.
address()
{
	ip -n "$1" link set "$2" up && ip -n "$1" addr add "10.0.$3/24" dev "$2" &&
	ip -n "$1" addr add "fd00:${3%.*}::${3#*.}/64" dev "$2" nodad
}

net()
{
	nodes ba b1 b2 bb || return 1
	lablink-ctl add e0 netns ba peer west netns b1 rate 10gbit delay 2us &&
	lablink-ctl add east netns b1 peer west netns b2 rate 10gbit delay 500us &&
	lablink-ctl add east netns b2 peer e0 netns bb rate 1gbit delay 2us || return 1
	address ba e0 1.1 && address b1 west 1.2 && address b1 east 2.1 &&
	address b2 west 2.2 && address b2 east 3.1 && address bb e0 3.2 &&
	ip -n ba route add default via 10.0.1.2 && ip -n bb route add default via 10.0.3.1 &&
	ip -n b1 route add 10.0.3.0/24 via 10.0.2.2 && ip -n b2 route add 10.0.1.0/24 via 10.0.2.1 &&
	ip -n ba route add default via fd00:1::2 && ip -n bb route add default via fd00:3::1 &&
	ip -n b1 route add fd00:3::/64 via fd00:2::2 &&
	ip -n b2 route add fd00:1::/64 via fd00:2::1 || return 1
	roles
	flowgen -f ba -t bb -a 10.0.3.2 -c cubic -b 1000 > /dev/null &&
	flowgen -f ba -t bb -a fd00:3::2 -c cubic -b 1000 > /dev/null
}

port() { tc -n "$1" qdisc replace dev "$2" root handle 1: fabric limit 64mb stamp load $3; }

roles()
{
	port b1 west "role lan" && port b1 east "role wan" &&
	port b2 west "role wan" && port b2 east "role lan host-rate 1gbit"
}

# New routers, which know nothing.
roles_anew()
{
	for at in b1:west b1:east b2:west b2:east; do
		tc -n ${at%:*} qdisc del dev ${at#*:} root
	done
	roles
}

# flowgen from ba to bb with $1 flows and events; its report is /run/a.
flows()
{
	n=$1
	shift
	flowgen -f ba -t bb -a "${to:-10.0.3.2}" -c "${cc:-hpcc}" -n "$n" "$@" > /run/a 2> /run/errors || fault "$(cat /run/errors)"
}

all() { awk -v m="$1" -v w="$2" '$2 == m { for (i = 5; i < NF; i++) if ($i == w) x += $(i + 1) } END { print x + 0 }' /run/a; }
stat() { tc -n "$1" -s -j qdisc show dev "$2" | jq -r ".[0] | $3"; }
border() { stat "$1" east ".fabric.border.$2"; }

# Nothing is left in any count, once what waits has left at the rate that was told last.
empty()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		[ "$(stat b2 east .qlen)" -gt 0 ] || break
	done
	for at in b1:west b1:east b2:west b2:east; do
		expect "qlen of $at" "$(stat ${at%:*} ${at#*:} .qlen)" -eq 0
		expect "backlog of $at" "$(stat ${at%:*} ${at#*:} .backlog)" -eq 0
		expect "waiting at $at" "$(stat ${at%:*} ${at#*:} .fabric.backlog_bytes)" -eq 0
	done
}

# Data waits by connection and leaves at the rate of the loop; both routers say what
# they have to; no checksum is broken on the way.
test_both_families()
{
	for to in 10.0.3.2 fd00:3::2; do
		flows 4 100:all:mark 300:all:mark
		expect "used, permille" $(($(all 300 bytes) * 1000 / 200 / 117035)) -ge 900
	done
	expect "queued" "$(border b2 queued)" -ge 10000
	expect "credits" "$(border b2 credits)" -ge 1000
	expect "told" "$(border b2 told)" -ge 1000
	expect "not believed" "$(border b2 refused)" -eq 0
	expect "loads read" "$(border b1 near_read)" -ge 10000
	expect "and told" "$(border b1 near_told)" -ge 1000
	expect "checksums" "$(counter ba TcpInCsumErrors)" -eq 0
	expect "checksums" "$(counter bb TcpInCsumErrors)" -eq 0
	to=''
	empty
}

# ACKs that come by a VLAN device on a port of role lan are believed, too.
test_tagged_hosts()
{
	ip -n b2 addr flush dev east && ip -n bb addr flush dev e0
	ip -n b2 link add link east name v7 type vlan id 7 &&
		ip -n bb link add link e0 name v7 type vlan id 7
	address b2 v7 3.1 && address bb v7 3.2
	ip -n bb route add default via 10.0.3.1
	roles_anew
	cc=mlcc flows 4 200:all:mark 400:all:mark
	expect "queued" "$(border b2 queued)" -ge 10000
	expect "credits" "$(border b2 credits)" -ge 1000
	expect "used, permille" $(($(all 400 bytes) * 1000 / 200 / 117035)) -ge 900
	empty
}

# With MLCC's sender the queue comes to rest at 1 ms of the line, the line stays full, shares
# are equal; without its queue the port itself has none.
test_mlcc()
{
	(sleep 0.35; stat b2 east '.fabric | .backlog_bytes' > /run/rest) &
	cc=mlcc flows 4 200:all:mark 400:all:mark
	wait
	expect "used, permille" $(($(all 400 bytes) * 1000 / 200 / 117035)) -ge 900
	expect "at rest" "$(cat /run/rest)" -ge 60000
	expect "at rest" "$(cat /run/rest)" -le 250000
	awk '$2 == 400 { s += $6; n++; if (n == 1 || $6 < least) least = $6 }
		END { print int(1000 * least * n / s) }' /run/a > /run/fair
	expect "least of the mean, permille" "$(cat /run/fair)" -ge 900
	empty
}

# fairlane fabric show has the same numbers as tc, by host; reading takes no virtual time.
test_shown()
{
	(sleep 0.35; in_ns b2 fairlane -j fabric show > /run/shown.json; in_ns b2 fairlane fabric show > /run/shown
		stat b2 east '.fabric | [.flows[].backlog_bytes] | add' > /run/rest; in_ns ba fairlane -j fabric show > /run/none) &
	cc=mlcc flows 4 200:all:mark 400:all:mark
	wait
	expect "no router at a host" "$(jq length /run/none)" -eq 0
	expect "one router" "$(jq length /run/shown.json)" -eq 1
	shown() { jq -r ".[0] | $1" /run/shown.json; }
	expect "credits" "$(shown .border.credits)" -ge 1000
	expect "ports of role lan" "$(shown '[.ports[] | select(.role == "lan")] | length')" -eq 1
	lan='.ports[] | select(.role == "lan") |'
	expect "hosts" "$(shown "$lan .hosts | length")" -ge 1
	host="$lan .hosts[] | select(.host == \"10.0.3.2\") |"
	expect "rate of the host" "$(shown "$host .rate_bps > 800e6 and .rate_bps < 1100e6")" = true
	expect "connections that wait" "$(shown "[$host .flows[] | select(.backlog_bytes > 0 and .tell_bps > 100e6)] | length")" -eq 4
	expect "their queues" "$(shown "[$host .flows[].backlog_bytes] | add")" -eq "$(cat /run/rest)"
	expect "of the host" "$(shown "$host .backlog_bytes")" -eq "$(cat /run/rest)"
	expect "as text" "$(grep -c '^      10.0.3.2:[0-9]* from 10.0.1.1:[0-9]* waiting [0-9.]*k*B in [1-9]' /run/shown)" -eq 4
	expect "hosts as text" "$(grep -c '^    host 10.0.3.2 rate [0-9.]*[mg]bit' /run/shown)" -eq 1
	# a router that has seen nothing has no line of counts
	roles_anew
	in_ns b2 fairlane fabric show > /run/shown
	expect "a new router" "$(cut -c1-8 /run/shown | tr '\n' ,)" = 'border r,  port w,  port e,'
}

# Who acknowledges the end of a connection is believed, too.
test_ends()
{
	for bytes in 1000 30000; do
		for cc in hpcc mlcc; do
			flowgen -f ba -t bb -a 10.0.3.2 -c $cc -n 20 -b $bytes > /run/a || fault "flows"
		done
	done
	cc=''
	expect "credits" "$(border b2 credits)" -ge 80
	expect "not believed" "$(border b2 refused)" -eq 0
	empty
}

# Data without the option does not wait, and no role changes while there is a port.
test_others()
{
	before=$(border b2 queued)
	cc=cubic flows 2 50:all:mark
	expect "queued" "$(border b2 queued)" -eq "$before"
	expect "not queued" "$(border b2 unqueued)" -ge 100
	for role in "none" "wan" "lan flow-delay 2ms"; do
		if tc -n b2 qdisc change dev east root handle 1: fabric role $role 2> /run/errors; then
			fault "role $role taken"
		fi
		expect "why" "$(grep -c 'are chosen when the port is made' /run/errors)" -eq 1
	done
	tc -n b2 qdisc change dev east root handle 1: fabric limit 32mb || fault "limit"
	expect "shown" "$(tc -n b2 qdisc show dev east | grep -c 'role lan host-rate 1Gbit flow-delay 1ms flow-theta 0ns flow-form filter')" -eq 1
	empty
}

# Both directions at once: each router is the sender's and the receiver's.
test_both_ways()
{
	flowgen -f bb -t ba -a 10.0.1.1 -c hpcc -n 2 200:all:mark > /run/b &
	flows 2 200:all:mark
	wait
	expect "one way, permille" $(($(all 200 bytes) * 1000 / 200 / 117035)) -ge 500
	expect "queued at b1" "$(tc -n b1 -s -j qdisc show dev west | jq '.[0].fabric | .border.queued')" -ge 1000
	expect "credits at both" "$(border b1 credits)" -ge 100
	empty
}

# A receiver cannot say what routers say, nor what it has not got.
test_forged()
{
	for n in ba bb; do tc -n $n qdisc replace dev e0 clsact || fault clsact; done
	for half in 44:0x83ff 46:0xffff alone:44:0x83ff; do
		# b2 has to do without b1's help
		[ "${half%%:*}" != alone ] || {
			for port in west east; do
				tc -n b1 qdisc del dev $port root || fault "b1 $port"
				port b1 $port '' || fault "b1 $port"
			done
		}
		half=${half#alone:}
		at=${half%:*} word=${half#*:}
		tc -n bb filter add dev e0 egress protocol ip u32 match u32 0xfd08464d 0xffffffff at 40 \
			action pedit munge offset $at u16 set $word pipe action csum tcp || fault "filter"
		tc -n ba filter add dev e0 ingress protocol ip u32 match u32 0xfd08464d 0xffffffff at 40 \
			match u16 $word 0xffff at $at action ok || fault "filter"
		flows 2 100:all:mark
		expect "$word came through" "$(tc -n ba -s -j filter show dev e0 ingress | jq '[.[].options.actions[]?.stats.packets] | add')" -eq 0
		tc -n bb filter del dev e0 egress
		tc -n ba filter del dev e0 ingress
	done
	# loads of another port than the datacenter's are not believed
	before=$(border b2 credits)
	in_ns b2 sysctl -q -w net.ipv4.conf.all.rp_filter=0
	tc -n bb qdisc del dev e0 clsact
	tc -n b2 qdisc replace dev east root handle 2: fabric limit 64mb
	port b2 east "role wan"
	flows 2 50:all:mark
	expect "credits" "$(tc -n b2 -s -j qdisc show dev west | jq '.[0].fabric.border.credits')" -eq "$before"
}


# ACKs tell ba's flows a rate, and nothing of the way to b1, which does not know their option.
no_near_in_acks()
{
	for at in ba:e0 b1:east; do
		tc -n ${at%:*} qdisc replace dev ${at#*:} clsact || fault clsact
	done
	for at in 'ip 40' 'ipv6 60'; do
		tc -n b1 filter add dev east ingress pref ${at#* } protocol ${at% *} u32 match u32 0xfd08464d 0xffffffff at ${at#* } \
			action pedit munge offset ${at#* } u32 set 0xfd08464e pipe action csum tcp || fault "filter"
		tc -n ba filter add dev e0 ingress pref ${at#* } protocol ${at% *} u32 match u32 0xfd08464e 0xffffffff at ${at#* } \
			action pedit munge offset ${at#* } u32 set 0xfd08464d pipe action csum tcp || fault "filter"
	done
}

# b1's messages come to ba as "pedit $*" makes them.
messages_say()
{
	tc -n b1 qdisc replace dev west clsact || fault clsact
	tc -n b1 filter del dev west egress 2> /dev/null
	[ $# -eq 0 ] ||
		tc -n b1 filter add dev west egress protocol ip u32 match ip protocol 1 0xff match u8 253 0xff at 20 \
			action pedit "$@" pipe action csum icmp || fault "filter"
}

# Where no ACK tells of the way to the own border router a message does, and steers: one that says
# that a port there is busy slows the flow. It can be switched off at both ends.
test_messages()
{
	for to in 10.0.3.2 fd00:3::2; do
		before=$(border b1 messages) taken=$(told ba messages)
		flows 1 100:all:mark
		expect "messages taken" $(($(told ba messages) - taken)) -ge 1
	done
	to=''
	expect "rate of messages" "$(border b1 messages)" -le 4000
	expect "not sent" "$(border b1 unsent)" -eq 0
	# once ACKs come they tell, also of an application that sends little after a burst
	(sleep 0.2; border b1 messages > /run/made) &
	flows 1 100:all:mbps=10 500:all:mark
	wait
	expect "messages while ACKs come" $(($(border b1 messages) - $(cat /run/made))) -le 10
	no_near_in_acks
	messages_say
	cc=mlcc flows 1 100:all:mark 300:all:mark
	expect "used, permille" $(($(all 300 bytes) * 1000 / 200 / 117035)) -ge 900
	messages_say munge offset 26 u16 set 0x8b00
	cc=mlcc flows 1 100:all:mark 300:all:mark
	expect "used with a load of 4, permille" $(($(all 300 bytes) * 1000 / 200 / 117035)) -le 300
	in_ns ba sysctl -q -w net.fairlane.research.mlcc_messages=0
	cc=mlcc flows 1 100:all:mark 300:all:mark
	expect "used without messages, permille" $(($(all 300 bytes) * 1000 / 200 / 117035)) -ge 900
	in_ns ba sysctl -q -w net.fairlane.research.mlcc_messages=1
	max=/sys/module/sch_fabric/parameters/border_messages
	old=$(cat $max)
	for rate in 0 100; do
		echo $rate > $max
		before=$(border b1 messages)
		flows 4 100:all:mark
		expect "messages of $rate a second" $(($(border b1 messages) - before)) -le $((rate * 2 / 10))
	done
	expect "not sent" "$(border b1 unsent)" -ge 100
	echo "$old" > $max
	empty
}

# What $1 is in the report's only flow.
told_of() { awk -v w="$1" '{ for (i = 1; i < NF; i++) if ($i == w) print $(i + 1) }' /run/a; }

# The first packet of a flow, and the first after a pause, brings a message: the flow does not wait a
# long round trip with its initial window. A packet of its own is told once.
test_first_flight()
{
	for to in 10.0.3.2 fd00:3::2; do
		for on in 1 0; do
			in_ns ba sysctl -q -w net.fairlane.research.mlcc_messages=$on
			cc=mlcc flows 1 -b 60000
			told_of end > /run/end$on
			cc=mlcc flows 1 100:all:mbps=0 199:all:mark 200:all:mbps=-1 203:all:mark
			all 203 bytes > /run/after$on
		done
		expect "us sooner" $(($(cat /run/end0) - $(cat /run/end1))) -ge 800
		expect "bytes more after a pause" $(($(cat /run/after1) - $(cat /run/after0))) -ge 80000
		in_ns ba sysctl -q -w net.fairlane.research.mlcc_messages=1
		before=$(border b1 messages)
		cc=mlcc flows 1 -b 1000
		expect "messages about a packet" $(($(border b1 messages) - before)) -eq 1
	done
	to=''
	# a router that has not seen the handshake waits for more packets; the debug kernel sends one
	# in the first millisecond, and too many later
	for end in 201 210; do
		(sleep 0.1; roles_anew) &
		cc=mlcc flows 1 90:all:mbps=0 200:all:mbps=-1 $end:all:mark
		wait
		[ "$(border b1 near_read)" -lt 8 ] || break
	done
	expect "packets without a handshake" "$(border b1 near_read)" -ge 8
	[ "$(border b1 near_read)" -gt 16 ] || expect "messages without a handshake" "$(border b1 messages)" -eq 0
	empty
}

# A middlebox takes telemetry from all ACKs, messages pass: they tell nothing of the way behind the
# border. The flow falls back, once, and messages do not take it back to the near loop.
test_messages_alone()
{
	tc -n b1 qdisc replace dev east clsact || fault clsact
	tc -n b1 filter add dev east ingress protocol ip u32 match u32 0xfd08464d 0xffffffff at 40 \
		action pedit munge offset 40 u32 set 0xfd08464e pipe action csum tcp || fault "filter"
	before=$(told ba fallbacks) taken=$(told ba messages)
	cc=mlcc flows 1 100:all:mark 300:all:mark 400:all:mark
	expect "messages" $(($(told ba messages) - taken)) -ge 100
	expect "fallen back" "$(all 300 fallback)$(all 400 fallback)" -eq 11
	expect "fallbacks" $(($(told ba fallbacks) - before)) -eq 1
	tc -n b1 qdisc del dev east clsact
	empty
}

# Messages about what was not sent, was acknowledged long ago or is another's are not believed,
# damaged and unknown ones not looked at.
test_forged_messages()
{
	no_near_in_acks
	for what in 'stray ex munge offset 52 u32 add 0x10000000' 'stray ex munge offset 52 u32 add 0xf0000000' \
		'stray ex munge offset 56 u32 add 0x00100000' 'stray ex munge offset 56 u32 add 0xfff00000' \
		'none munge offset 48 u16 set 7' 'none munge offset 50 u16 set 7' \
		'none munge offset 40 u32 set 0x0a000109' 'none munge offset 37 u8 set 17' \
		'none munge offset 24 u16 set 0x464c' 'none munge offset 21 u8 set 1' \
		'none munge offset 28 u8 set 0x44' 'none munge offset 61 u8 set 0x02'; do
		count=${what%% *}
		messages_say ${what#* } pipe action pedit munge offset 26 u16 set 0x8b00
		taken=$(told ba messages) stray=$(told ba stray) made=$(border b1 messages)
		cc=mlcc flows 1 40:all:mark 80:all:mark
		expect "$what: used, permille" $(($(all 80 bytes) * 1000 / 40 / 117035)) -ge 900
		expect "$what: messages" $(($(border b1 messages) - made)) -ge 100
		expect "$what: taken" $(($(told ba messages) - taken)) -eq 0
		[ $count = none ] || expect "$what: stray" $(($(told ba stray) - stray)) -ge 100
		[ $count = stray ] || expect "$what: stray" $(($(told ba stray) - stray)) -le 5
	done
	# any load in one that is believed: bounded, and the flow goes on; of another type: none
	for load in 0x8000 0x83ff 0xbfff 0xbc00 0x4b00; do
		messages_say munge offset 26 u16 set $load
		flowgen -f ba -t bb -a 10.0.3.2 -c mlcc -n 2 -b 3000 -L 9000 > /run/b 2> /run/errors || fault "$load: $(cat /run/b /run/errors)"
	done
	messages_say
	# damaged on the way
	tc -n b1 filter add dev west egress protocol ip u32 match ip protocol 1 0xff match u8 253 0xff at 20 \
		action pedit munge offset 26 u16 set 0x8b01 || fault "filter"
	taken=$(told ba messages)
	cc=mlcc flows 1 40:all:mark
	expect "damaged: taken" $(($(told ba messages) - taken)) -eq 0
}

# Ports come and go under traffic: what waited is lost, everything is learnt again.
test_ports_that_go()
{
	flows 4 50:all:mark 600:all:mark &
	for h in 2 3 4 5; do
		sleep 0.03
		tc -n b2 qdisc replace dev east root handle $h: fabric limit 64mb stamp load role lan host-rate 1gbit || fault "east"
		sleep 0.02
		tc -n b2 qdisc del dev west root
		tc -n b1 qdisc replace dev west root handle $h: fabric limit 64mb stamp load role lan || fault "west"
		port b2 west "role wan"
	done
	tc -n b2 qdisc replace dev east root handle 1: fabric limit 64mb stamp load role lan host-rate 1gbit
	wait
	expect "sent after all" "$(all 600 bytes)" -ge 30000000
	expect "credits" "$(border b2 credits)" -ge 100
	empty
}

# A band goes while packets for it wait by connection: they arrive all the same, and the
# shared buffer gets back what the band had for itself, no more.
test_bands_that_go()
{
	tc -n b2 qdisc replace dev east root handle 7: fabric limit 64mb stamp load role lan \
		host-rate 1gbit bands 2 default 2 buffer sw 64mb band 2 reserved 30000 || fault "bands"
	cc=mlcc flows 4 300:all:mark &
	sleep 0.2
	expect "waiting" "$(stat b2 east .fabric.backlog_bytes)" -ge 60000
	tc -n b2 qdisc change dev east root handle 7: fabric bands 1 default 1 || fault "one band"
	wait
	expect "sent, permille" $(($(all 300 bytes) * 1000 / 300 / 117035)) -ge 700
	empty
	expect "used of the buffer" "$(stat b2 east .fabric.buffer_used_bytes)" -eq 0
}

# Strangers' handshakes push out what a router knows of connections for which nothing waits;
# those that send are served.
test_strangers()
{
	max=/sys/module/sch_fabric/parameters/border_conns
	old=$(cat $max)
	echo 16 > $max
	cc=mlcc flows 4 300:all:mark &
	for n in 1 2 3 4 5 6 7 8; do
		flowgen -f ba -t bb -a 10.0.3.2 -c cubic -n 25 -b 1000 -p $((6000 + n * 50)) -L 30 > /dev/null || fault "strangers"
	done
	wait
	echo "$old" > $max
	expect "pushed out" "$(border b2 evicted)" -ge 100
	expect "sent, permille" $(($(all 300 bytes) * 1000 / 300 / 117035)) -ge 700
	empty
}

# A host's queues take no more than 8 of 9 parts of a port's limit: first windows of 64 flows are 900 kB.
test_host_full()
{
	tc -n b2 qdisc del dev east root
	tc -n b2 qdisc replace dev east root handle 1: fabric limit 300kb stamp load role lan host-rate 1gbit
	flowgen -f ba -t bb -a 10.0.3.2 -c hpcc -n 64 -b 20000 -L 2000 > /run/a || fault "flows"
	expect "dropped" "$(border b2 host_full)" -ge 10
	expect "of the port's limit" "$(stat b2 east .fabric.backlog_max_bytes)" -le 280000
	expect "most of it" "$(stat b2 east .fabric.backlog_max_bytes)" -ge 250000
	empty
}

# What is told is bounded where tc accepts what makes no sense: a target of a second is to be
# reached in 1 ns, of a line of 10 Tbit/s.
test_numbers_at_their_ends()
{
	for form in filter damped printed; do
		tc -n b2 qdisc del dev east root
		tc -n b2 qdisc replace dev east root handle 1: fabric limit 64mb stamp load role lan \
			host-rate 10tbit flow-delay 1s flow-theta 1ns flow-form $form || fault "$form"
		flows 4 10:all:mark 30:all:mark
		expect "$form: told" "$(border b2 told)" -ge 100
		expect "$form: sent, permille" $(($(all 30 bytes) * 1000 / 20 / 117035)) -ge 700
	done
	empty
}

# Queues have their turns whatever the device says of the largest packet: of 2^31 bytes with their
# header no turn would have an end.
test_turns_of_any_mtu()
{
	ip -n b2 link add copies type dummy || fault "device"
	ip -n b2 link set copies mtu 2147483634 up || fault "mtu"
	tc -n b2 qdisc replace dev copies root handle 1: fabric limit 64mb stamp load speed 1gbit \
		role lan || fault "port"
	tc -n b2 qdisc replace dev west clsact || fault "clsact"
	tc -n b2 filter add dev west ingress matchall action mirred egress mirror dev copies || fault "copies"
	flows 4 20:all:mark
	tc -n b2 qdisc del dev west clsact
	expect "copies that waited" "$(stat b2 copies .fabric.border.queued)" -ge 500
	expect "copies that left" "$(stat b2 copies .packets)" -ge 500
	ip -n b2 link del copies
	empty
}

# The 16 ports of role lan that a router may have, and no more; each can be replaced, and ACKs that
# come by it are believed all the same.
test_sixteen_ports()
{
	lan() { tc -n b2 qdisc replace dev "$1" root handle "$2:" fabric limit 64mb stamp load speed 1gbit role lan; }
	for i in $(seq 2 17); do
		ip -n b2 link add d$i type dummy || fault "device $i"
		ip -n b2 link set d$i up
		[ $i -eq 17 ] || lan d$i 1 || fault "port $i"
	done
	lan d17 1 2> /run/errors && fault "17 ports"
	expect "why" "$(grep -c 'a router has 16 ports of role lan at most' /run/errors)" -eq 1
	for handle in 2 3; do
		lan east $handle || fault "not replaced"
		credits=$(border b2 credits)
		cc=mlcc flows 2 50:all:mark
		expect "credits" $(($(border b2 credits) - credits)) -ge 100
	done
	tc -n b2 qdisc del dev d16 root
	lan d17 1 || fault "no room where a port has gone"
	empty
}

# More connections than have room in one message, and than a router may know: those beyond
# share a queue, and all are served.
test_many()
{
	flowgen -f ba -t bb -a 10.0.3.2 -c hpcc -n 200 -b 100000 -L 2000 > /run/a || fault "flows"
	expect "told of" "$(border b2 connections)" -ge 200
	expect "queues in one message" "$(stat b2 east '.fabric.flows | length')" -ge 10
	# a message that the queues fill has room for the rest of the port
	for bytes in $(seq 4040 20 8000); do
		in_ns b2 fabric_fuzz dump east "$bytes" > /run/dumps
		[ "$(grep -c '^bands [01] ' /run/dumps)" -eq 2 ] || fault "buffer of $bytes: told $(paste -s -d ';' /run/dumps)"
	done
	max=/sys/module/sch_fabric/parameters/border_conns
	old=$(cat $max)
	for room in 4 0; do
		echo $room > $max
		roles_anew
		flows 16 200:all:mark
		expect "known" "$(border b2 connections)" -le $room
		expect "packets in a shared queue" "$(border b2 shared)" -ge 1000
		expect "used, permille" $(($(all 200 bytes) * 1000 / 200 / 117035)) -ge 500
		expect "told" "$(border b2 told)" -ge 1000
	done
	# a link that goes down takes along what waits, and the hosts that only have a shared queue
	(sleep 0.1; ip -n b2 link set east down; ip -n b2 link set east up) &
	flows 16 50:all:mark 400:all:mark
	wait
	expect "sent after the link was down" "$(all 400 bytes)" -ge 10000000
	echo "$old" > $max
	sleep 0.3
	empty
}

show_state()
{
	cat /run/a
	for r in b1 b2; do
		tc -n $r -s qdisc show dev east
		tc -n $r -s qdisc show dev west
	done
}

# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load_modules lablink fairlane tcp_hpcc tcp_mlcc sch_fabric || exit 1
tests=${*:-both_families tagged_hosts mlcc shown ends others both_ways forged messages
	first_flight messages_alone forged_messages ports_that_go
	bands_that_go strangers host_full numbers_at_their_ends turns_of_any_mtu sixteen_ports many}
run_tests 1 $tests
