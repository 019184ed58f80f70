# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2046,SC2086,SC2154 # words; guest.sh, which sources this, has slow
#
# Routers in guest.sh: a port that stamps for the controls that live on it, switches with isolation
# queues, border routers. Each is a namespace; ip, tc and fairlane say what they count. Where
# a port's device has to hold packets back the links are the lab's (lablink), which tell their speed.

# fresh NAME...: namespaces that forward and whose receivers reflect telemetry, as the first one does
# meanwhile
fresh()
{
	sysctl -q -w net.ipv4.ip_forward=1 net.fairlane.telemetry=2 &&
	printf 'netns add %s\n' "$@" | ip -batch - &&
	sysctl -q -w net.ipv4.ip_forward=0 net.fairlane.telemetry=1
}

# They go.
gone()
{
	printf 'netns del %s\n' "$@" | ip -batch -
}

# wire NAMESPACE DEVICE NAMESPACE DEVICE RATE DELAY
wire()
{
	lablink-ctl add "$2" netns "$1" peer "$4" netns "$3" rate "$5" delay "$6"
}

# ways NAMESPACE DEVICE=ADDRESS... [GATEWAY]: devices of networks of 24 bits, which come up, and
# where all else goes
ways()
{
	local n=$1 word

	shift
	for word in "$@"; do
		case $word in
		*=*)	echo "addr add ${word#*=}/24 dev ${word%=*}"
			echo "link set ${word%=*} up" ;;
		*)	echo "route add default via $word" ;;
		esac
	done | ip -n "$n" -batch -
}

# The first number of the name $3 that the port $2 of $1 says. What is asked again and again is not
# asked by jq: here its start takes half a second.
port_says()
{
	tc -n "$1" -s -j qdisc show dev "$2" | sed -n "s/\"$3\":\([0-9]*\).*/\n\1/; s/.*\n//p"
}

# switch_says ROUTER TEXT: its switch says this in JSON
switch_says()
{
	ip netns exec "$1" fairlane -j fabric show | grep -qF "$2"
}

# All jq expressions "$@" are true of what stdin says.
all_true()
{
	local list='' expression false

	for expression in "$@"; do
		list="$list${list:+, }($expression)"
	done
	cat > /run/said
	false=$(jq -c "[$list] | select(all | not)" /run/said) && [ -z "$false" ] && return
	printf 'not all true: %s\n' "$false" "$@"
	cat /run/said
	return 1
}

# What the namespace $1 counts of telemetry, as assignments of $2_...
told()
{
	ip netns exec "$1" sed -n "s/^\([a-z_]*\) \([0-9]*\)$/$2_\1=\2/p" /proc/net/fairlane_telemetry
}

# Tries "$@" until it is true, some hundred times.
until_true()
{
	local left=${slow:+3000}

	left=${left:-300}
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 20000
	done
}

# ---- a port that stamps ----------------------------------------------------------------

#	ta --- tr --- tb	100 Mbit/s from tr to tb
told_net()
{
	fresh ta tr tb &&
	ip link add e0 netns ta type veth peer name west netns tr &&
	ip link add east netns tr type veth peer name e0 netns tb &&
	ways ta e0=10.1.1.1 10.1.1.254 && ways tb e0=10.1.2.1 10.1.2.254 &&
	ways tr west=10.1.1.254 east=10.1.2.254 &&
	ip netns exec ta sysctl -q -w net.fairlane.line_rate_mbps=100
}

told_gone()
{
	gone ta tr tb
}

# The control has what it lives on: each packet of data is stamped by the port and reflected by the
# receiver, and no flow falls back to Reno.
transfer_told()
{
	local cc=$1 stamp=load

	case $cc in
	powertcp) stamp=power ;;
	soze)	stamp=soze ;;
	esac
	tc -n tr qdisc replace dev east root handle 1: fabric rate 100mbit delay 100us limit 1mb stamp $stamp || return 1
	eval "$(told ta ta0; told tb tb0)"
	start_flows -f ta -t tb -a 10.1.2.1 -c "$cc" -n 4 -b 100000
	held && fairlane -n ta -j flow show cc "$cc" > /run/shown && let_go || return 1
	eval "$(told ta ta1; told tb tb1)"
	# 280 segments of data, which meet some queue
	{
		echo "{\"fallbacks\": $((ta1_fallbacks - ta0_fallbacks)), \"echoes\": $((ta1_echoes - ta0_echoes)),"
		echo "\"heard\": $((tb1_heard - tb0_heard)), \"flows\":"
		cat /run/shown
		echo ', "port":'
		tc -n tr -s -j qdisc show dev east
		echo '}'
	} | all_true '[.flows[].state] == ["sending", "sending", "sending", "sending"]' \
		'.fallbacks == 0' '.port[0].drops == 0' '.port[0].fabric.telemetry.stamped >= 280' \
		'.port[0].fabric.telemetry.raised >= 20' '.heard == .port[0].fabric.telemetry.stamped' \
		'.echoes >= 30' &&
	tc -n tr qdisc del dev east root
}

# ---- isolation queues -------------------------------------------------------------------

#	sa --- r1 --- r2 --- r3 --- hb		10 Mbit/s from r3 to hb, else 100 Mbit/s
#		      |
#		      sc
# Ports of a router are p0, p1...: the number is the port's in the switch.
tree_net()
{
	fresh $tree_nodes &&
	wire sa e0 r1 p0 100mbit 10us && wire sc e0 r2 p2 100mbit 10us &&
	wire r1 p1 r2 p0 100mbit 10us && wire r2 p1 r3 p0 100mbit 10us &&
	wire r3 p1 hb e0 10mbit 10us &&
	ways sa e0=10.2.1.1 10.2.1.254 && ways sc e0=10.2.2.1 10.2.2.254 && ways hb e0=10.2.3.1 10.2.3.254 &&
	ways r1 p0=10.2.1.254 p1=10.2.12.1 10.2.12.2 && ways r3 p0=10.2.23.3 p1=10.2.3.254 10.2.23.2 &&
	ways r2 p0=10.2.12.2 p1=10.2.23.2 p2=10.2.2.254 10.2.23.3 &&
	ip -n r2 route add 10.2.1.0/24 via 10.2.12.1
}

tree_nodes='sa sc r1 r2 r3 hb'
tree_places='r1:p0 r1:p1 r2:p0 r2:p1 r2:p2 r3:p0 r3:p1'

# tree_port ROUTER:PORT HANDLE: frames go between routers only
tree_port()
{
	local r=${1%:*} p=${1#*:} frames=both

	case $1 in r1:p0|r2:p2|r3:p1) frames=none ;; esac
	tc -n "$r" qdisc replace dev "$p" root handle "$2:" fabric limit 4mb switch "${r#r}" \
		switch-port "${p#p}" frames $frames band 1 queue isolate
}

tree_ports()
{
	local at

	for at in $tree_places; do
		tree_port "$at" 1 || return 1
	done
}

# Each router is told the routes of all.
tree_routes()
{
	local r

	for r in r1 r2 r3; do
		ip netns exec $r fairlane fabric load - <<-end || return 1
			port 1:1 to 2
			port 2:0 to 1
			port 2:1 to 3
			port 3:0 to 2
			route 1 port 0 to 10.2.1.1
			route 1 port 1 to 10.2.2.1 10.2.3.1
			route 2 port 0 to 10.2.1.1
			route 2 port 1 to 10.2.3.1
			route 2 port 2 to 10.2.2.1
			route 3 port 0 to 10.2.1.1 10.2.2.1
			route 3 port 1 to 10.2.3.1
		end
	done
}

# The router $1 knows the root of the incast.
knows_the_root()
{
	switch_says "$1" '"root":"3:1"'
}

knows_no_root()
{
	switch_says "$1" '"roots":[]'
}

# Has the router $1 held packets back, of many whose way it foretold?
isolates()
{
	ip netns exec "$1" fairlane -j fabric show | jq -e '.[0] | .foretold >= 100 and .isolated >= 50' > /dev/null
}

# An incast: the port to the receiver is a root, of which the two routers before it know, and hold
# packets back for it, however slow this machine is. Nothing is lost. When the flows are over nothing
# is left of the tree.
isolate_incast()
{
	local r status=0

	{ tree_net && tree_ports && tree_routes; } || return 1
	start_flows -f sa,sc -t hb -a 10.2.3.1 -c cubic -n 6
	held || return 1
	# the last one to hear of it is the first
	for r in r1 r2; do
		until_true isolates $r || { echo "$r isolates nothing"; status=1; }
	done
	let_go || return 1
	for r in r1 r2 r3; do
		until_true knows_no_root $r || { echo "$r knows a root"; status=1; }
		{
			echo '{"switch":'
			ip netns exec $r fairlane -j fabric show
			echo ', "ports":'
			tc -n $r -s -j qdisc show
			echo '}'
		} | all_true '[.ports[] | select(.kind == "fabric").drops] | add == 0' \
			'[.ports[] | select(.kind == "fabric").qlen] | add == 0' \
			'.switch[0].mistold == 0' \
			'.switch[0].switch == 3 or .switch[0].assigned >= 1' \
			'.switch[0].assigned == .switch[0].released' \
			'.switch[0].switch != 3 or .switch[0].nominated >= 1' || status=1
	done
	gone $tree_nodes && return $status
}

# ---- pauses of whole bands ----------------------------------------------------------------

#	pa --- pr --- pb	by p1 and p0 of pr
# What pa has sent waits in a port that is replaced again and again: as it is thrown away pa is told
# to go on, each time from the reset of a qdisc that goes. In later kernels softirqs come meanwhile.
pfc_replaced()
{
	local left=60 handle=2 mac status=0

	fresh pa pr pb &&
	ip link add e0 netns pa type veth peer name p1 netns pr &&
	ip link add p0 netns pr type veth peer name e0 netns pb &&
	ways pa e0=10.4.1.1 10.4.1.254 && ways pb e0=10.4.2.1 10.4.2.254 &&
	ways pr p1=10.4.1.254 p0=10.4.2.254 || return 1
	mac=$(ip -n pb -j link show e0 | jq -r '.[0].address')
	ip -n pr neigh replace 10.4.2.1 lladdr "$mac" dev p0
	pfc_port p1 1 "switch-port 1 frames tell" || return 1
	while [ $left -gt 0 ]; do
		left=$((left - 1)) handle=$((5 - handle))
		pfc_port p0 $handle "switch-port 0" "rate 8kbit" || return 1
		ip netns exec pa fabric_send udp 10.4.2.1 60 0:1000
		until_true waits_for_pfc || { echo "nothing waits, $left left"; status=1; }
	done
	ip -n pr link set p0 down
	ip netns exec pr fairlane -j fabric show | all_true '.[0].pfc_resume_sent >= 60' || status=1
	gone pa pr pb && return $status
}

# pfc_port DEVICE HANDLE WORDS [WORDS OF ITS BAND]
pfc_port()
{
	tc -n pr qdisc replace dev "$1" root handle "$2:" fabric limit 100kb switch 1 $3 speed 1gbit \
		hop-rtt 5us band 1 queue pfc ${4-}
}

waits_for_pfc()
{
	[ "$(port_says pr p0 backlog_packets)" -ge 50 ]
}

# ---- packets that are split ----------------------------------------------------------------

# Each part of a packet is one packet for the qdisc above the port and for a band's own, too.
parts_counted()
{
	local before after split

	fresh ga gb &&
	ip link add e0 netns ga type veth peer name e0 netns gb &&
	ways ga e0=10.5.1.1 && ways gb e0=10.5.1.2 || return 1
	tc -n ga qdisc add dev e0 root handle 9: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
	tc -n ga qdisc add dev e0 parent 9:1 handle 1: fabric limit 10mb &&
	tc -n ga qdisc add dev e0 parent 1:1 handle 10: pfifo || return 1
	before=$(packets_of_all)
	ip netns exec ga fabric_send gso 10.5.1.2 20 || return 1
	usleep 200000
	after=$(packets_of_all)
	split=$(tc -n ga -s -j qdisc show dev e0 | jq '.[] | select(.handle == "1:").fabric.gso_split')
	echo "{\"split\": $split, \"packets\": [$before, $after]}" | all_true '.split == 20' \
		'[.packets | transpose[] | .[1] - .[0]] | min >= 200 and min == max' &&
	gone ga gb
}

packets_of_all()
{
	tc -n ga -s -j qdisc show dev e0 | jq -c '[.[] | select(.handle == ("9:", "1:", "10:")).packets]'
}

# ---- border routers ---------------------------------------------------------------------

#	ba --- b1 ------ b2 --- bb	100 Mbit/s, 5 ms between b1 and b2; 2 Mbit/s to hosts
border_net()
{
	fresh $border_nodes &&
	wire ba e0 b1 west 100mbit 10us && wire b1 east b2 west 100mbit 5ms &&
	wire b2 east bb e0 100mbit 10us && lablink-ctl set west netns b1 rate 2mbit &&
	lablink-ctl set east netns b2 rate 2mbit &&
	ways ba e0=10.3.1.1 10.3.1.254 && ways bb e0=10.3.3.1 10.3.3.254 &&
	ways b1 west=10.3.1.254 east=10.3.2.1 10.3.2.2 && ways b2 west=10.3.2.2 east=10.3.3.254 10.3.2.1
}

border_nodes='ba b1 b2 bb'
border_places='b2:east b1:west b2:west b1:east'

# border_port ROUTER:DEVICE HANDLE
border_port()
{
	local role=lan

	case $1 in b1:east|b2:west) role=wan ;; esac
	tc -n "${1%:*}" qdisc replace dev "${1#*:}" root handle "$2:" fabric limit ${border_limit:-4mb} stamp load role $role
}

border_ports()
{
	local at

	for at in $border_places; do
		border_port "$at" "$1" || return 1
	done
}

# What the router $1 counts as $2.
border_says()
{
	port_says "$1" east "$2"
}

# Data of MLCC waits by connection at the receiver's router, which takes echoes out of ACKs for its
# loop and tells rates; the sender's reads loads and tells them. No flow falls back.
border_roles()
{
	{ border_net && border_ports 1; } || return 1
	eval "$(told ba ba0)"
	start_flows -f ba -t bb -a 10.3.3.1 -c mlcc -n 4 -b 60000
	{ held && let_go; } || return 1
	eval "$(told ba ba1)"
	# 168 segments of data. Some ACKs are not believed: of a FIN, which is beyond all data, and, where
	# the machine has slept, of what left a queue before it began anew.
	{
		echo "{\"fallbacks\": $((ba1_fallbacks - ba0_fallbacks)), \"b1\":"
		tc -n b1 -s -j qdisc show dev east
		echo ', "b2":'
		tc -n b2 -s -j qdisc show dev east
		echo '}'
	} | all_true '.fallbacks == 0' '.b2[0].fabric.border.queued >= 168' '.b2[0].fabric.border.credits >= 40' \
		'.b2[0].fabric.border | .refused * 4 <= .credits' '.b2[0].fabric.border.told >= 40' \
		'.b2[0].fabric.flows | length == 4' '.b1[0].fabric.border.near_read >= 168' \
		'.b1[0].fabric.border.near_told >= 40'
}

border_gone()
{
	gone $border_nodes
}

# The loop of the router $1 has gone on since it had counted $2 credits.
goes_on()
{
	[ "$(border_says "$1" credits)" -ge $(($2 + 10)) ]
}

# flow PROCESSORS FROM TO ADDRESS CONTROL [WORDS]: flows in the background, until let_all_go. Their
# processes are in flows.
flow()
{
	local mask=$1 from=$2 to=$3 at=$4 cc=$5

	shift 5
	taskset "$mask" flowgen -f "$from" -t "$to" -a "$at" -p $((5000 + mask)) -c "$cc" -n 2 -h -d "$@" \
		< /run/hold > "/run/flow$mask" &
	flows="${flows:-} $!"
}

# They are all there.
flows_flow()
{
	local pid

	for pid in $flows; do
		kill -0 "$pid" || return 1
	done
}

# No more is sent. All that was has to come.
let_all_go()
{
	local pid status=0

	exec 8>&-
	for pid in $flows; do
		wait "$pid" || status=1
	done
	flows=
	return $status
}

# All ports of both routers are replaced again and again while packets of both directions, each by a
# processor of its own, wait in them: what waited is lost, all else is learnt anew. The flows go on
# after each time, and end with all that was sent.
border_replaced()
{
	local handle at one two status=0

	mkfifo /run/hold 2> /dev/null
	flow 1 ba bb 10.3.3.1 mlcc
	flow 2 bb ba 10.3.1.1 mlcc
	exec 8> /run/hold
	for handle in 2 3; do
		for at in $border_places; do
			border_port $at $handle || status=1
		done
		one=$(border_says b1 credits) two=$(border_says b2 credits)
		if ! { until_true goes_on b1 "$one" && until_true goes_on b2 "$two"; }; then
			echo "handle $handle: no loads any more"
			status=1
		fi
	done
	flows_flow || status=1
	let_all_go || { cat /run/flow1 /run/flow2; status=1; }
	for at in b1 b2; do
		tc -n $at -s -j qdisc show | all_true '[.[] | select(.kind == "fabric").qlen] | add == 0' || status=1
	done
	gone $border_nodes && return $status
}

# ---- storms -----------------------------------------------------------------------------

# Flows are ended that cannot end by themselves.
flows_killed()
{
	local pid

	kill $flows
	exec 8>&-
	for pid in $flows; do
		wait "$pid"
	done
	flows=
}

# The lines ROUTER:DEVICE... are so slow that an emulated processor has time for all else.
storm_lines()
{
	local at

	for at in "$@"; do
		lablink-ctl set ${at#*:} netns ${at%:*} rate 1mbit || return 1
	done
}

# Devices ROUTER:DEVICE... go down and come up again.
down_and_up()
{
	local at

	for at in "$@"; do
		ip -n ${at%:*} link set ${at#*:} down && ip -n ${at%:*} link set ${at#*:} up || return 1
	done
}

# The port $1 has sent something since it was made.
has_sent()
{
	[ "$(port_says "${1%:*}" "${1#*:}" packets)" -ge 20 ]
}

# Ports of switches are replaced, removed and go down while three senders fill them, frames go
# between all of them, and two processors are at it; then a router goes with all that is in it.
isolate_storm()
{
	local round handle at

	mkfifo /run/hold 2> /dev/null
	for round in r2 r3 r1; do
		{ tree_net && storm_lines r3:p1 hb:e0 && tree_ports && tree_routes; } || return 1
		flow 1 sa hb 10.2.3.1 cubic
		flow 2 sc hb 10.2.3.1 cubic
		flow 3 hb sa 10.2.1.1 cubic
		exec 8> /run/hold
		for handle in 2 3 4; do
			for at in $tree_places; do
				tree_port $at $handle || return 1
			done
			until_true has_sent r3:p1 || { echo "no data, handle $handle"; return 1; }
			down_and_up r1:p0 r3:p1 || return 1
			for at in r2:p1 r3:p0; do
				tc -n ${at%:*} qdisc del dev ${at#*:} root && tree_port $at $handle || return 1
			done
		done
		for at in r3 r2; do
			until_true knows_the_root $at || { echo "$at knows no root"; return 1; }
		done
		flows_flow && gone $round && flows_killed &&
		gone $(echo $tree_nodes | sed "s/$round//") || return 1
	done
}

# The same with border routers, each of which goes once. Their queues are short: what waits in them
# has to pass before loops go on.
border_storm()
{
	local round handle at one border_limit=100kb

	mkfifo /run/hold 2> /dev/null
	for round in b2 b1; do
		{ border_net && storm_lines b1:west b2:east && border_ports 1; } || return 1
		flow 1 ba bb 10.3.3.1 mlcc
		flow 2 bb ba 10.3.1.1 hpcc
		flow 3 ba bb 10.3.3.1 mlcc
		exec 8> /run/hold
		for handle in 2 3 4; do
			border_ports $handle && down_and_up b2:east b1:west || return 1
			for at in b2:west b2:east; do
				tc -n b2 qdisc del dev ${at#*:} root && border_port $at $handle || return 1
			done
			one=$(border_says b2 credits)
			until_true goes_on b2 "$one" || {
				echo "no loads, handle $handle"
				tc -n b2 -s qdisc show
				return 1
			}
		done
		flows_flow && gone $round && flows_killed &&
		gone $(echo $border_nodes | sed "s/$round//") || return 1
	done
}
