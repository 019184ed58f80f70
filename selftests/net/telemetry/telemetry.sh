#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317,SC3044 # awk; words; called by name; own functions
#
# The telemetry option on live sockets, in virtual time:
#
#	ta --- tr --- tb	1 Gbit/s from tr to tb, sch_fabric stamps there
#
# Names of tests as arguments select. Needs root, lablink, sch_fabric, ip, tc,
# nstat and, in PATH, flowgen, signed, offload and lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"

load() { load_modules fairlane tcp_soze; }
drop_net() { drop_nodes ta tr tb tc; }
flow() { flowgen -f ta -t tb -a 10.0.2.1 "$@"; }

# A fresh topology.
net()
{
	three_nodes ta tr tb '10gbit' '' || return 1
	in_ns ta sysctl -q -w net.fairlane.line_rate_mbps=1000
	tc -n tr qdisc replace dev east root handle 1: fabric limit 1mb stamp soze || return 1
	# Address resolution done before anything is timed.
	flow -c cubic -b 1000 > /dev/null && flow -c cubic -b 1000 -a fd00:2::1 > /dev/null
}

# What the switch counts of option $1.
stamped() { tc -n tr -s -j qdisc show dev east | jq ".[0].fabric.telemetry.$1"; }

# Nothing is cut, nothing has a wrong checksum, nothing is malformed.
undamaged()
{
	for n in ta tr tb; do
		expect "$n: TcpInCsumErrors" "$(counter $n TcpInCsumErrors)" -eq 0
		expect "$n: IpFragFails" "$(counter $n IpFragFails)" -eq 0
		expect "$n: IpFragCreates" "$(counter $n IpFragCreates)" -eq 0
		expect "$n: malformed" "$(told $n bad)" -eq 0
		expect "$n: stray" "$(told $n stray)" -eq 0
	done
}

# All devices of the hosts: offload e0 $*
offloads()
{
	for n in ta tb; do
		in_ns $n offload e0 "$@" > /run/offload 2>&1 || fault "$(cat /run/offload)"
	done
}

# Round trip of the option for each family and offload.
test_round_trip()
{
	for state in 'tso on gso on gro on' 'tso off gso off gro off' 'tso off gso off gro off tx off rx off' \
			'tso off gso off gro on tx on rx on'; do
		offloads $state
		for addr in 10.0.2.1 fd00:2::1 ::ffff:10.0.2.1; do
			sent=$(told ta sent)
			echoes=$(told ta echoes)
			flow -a $addr -c soze -n 3 -b 3000000 -L 1000 > /run/a || fault "$state: $addr"
			expect "options sent ($state, $addr)" $(($(told ta sent) - sent)) -ge 100
			expect "echoes ($state, $addr)" $(($(told ta echoes) - echoes)) -ge 100
			# ... from an accepted socket: nobody stamps on that way.
			flow -a $addr -r -c soze -n 3 -b 1000000 -L 1000 > /run/a || fault "$state: from $addr"
		done
		undamaged
	done
	tracing=/sys/kernel/tracing
	mount -t tracefs none $tracing 2> /dev/null
	echo 1 > $tracing/events/fairlane/fl_soze_update/enable || fault "no tracepoint"
	flow -c soze -b 1000000 -L 1000 > /run/a
	echo 0 > $tracing/events/fairlane/fl_soze_update/enable
	expect "updates in the trace" \
		"$(grep -c 'queue_ns=[0-9]* target_ns=[0-9]* rate_bps=[1-9][0-9]* weight_milli=1000$' $tracing/trace)" -ge 100
	echo > $tracing/trace
	expect "options stamped" "$(stamped raised)" -ge 1000
	expect "options malformed at the switch" "$(stamped malformed)" -eq 0
}

# Both directions at once share segments.
test_both_ways()
{
	flow -c soze -n 2 -b 5000000 -L 1000 > /run/a &
	flow -r -p 5100 -c soze -n 2 -b 5000000 -L 1000 > /run/b || fault "back"
	wait
	undamaged
	expect "echoes at ta" "$(told ta echoes)" -ge 1000
	expect "echoes at tb" "$(told tb echoes)" -ge 1000
}

# One end of a connection on which both send for $3 ms: in_ns NODE python3 -c "$talk" NODE CC MS
talk='
import socket, sys, threading, time
s = socket.socket()
if sys.argv[1] == "tb":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("", 7000))
    s.listen()
    s = s.accept()[0]
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
if sys.argv[1] != "tb":
    s.connect(("10.0.2.1", 7000))
end = time.monotonic() + int(sys.argv[3]) / 1000
def say():
    while time.monotonic() < end:
        s.send(bytes(65536))
threading.Thread(target=say, daemon=True).start()
while time.monotonic() < end:
    s.recv(1 << 20)'

# Both directions of one connection, whose receiver has a control of its own and full segments to
# send: it leaves room for the echo. Its own port tells for how long ACKs wait behind these.
test_both_ways_at_once()
{
	tc -n tb qdisc replace dev e0 root handle 1: fabric limit 1mb stamp soze || fault "no port"
	no_room=$(told tb no_room) fallbacks=$(told ta fallbacks)
	heard=$(told tb heard) echoes=$(told ta echoes)
	in_ns tb python3 -c "$talk" tb cubic 300 > /run/b 2>&1 &
	sleep 0.05
	in_ns ta python3 -c "$talk" ta soze 250 > /run/a 2>&1
	wait
	expect "falls back" $(($(told ta fallbacks) - fallbacks)) -eq 0
	expect "options heard" $(($(told tb heard) - heard)) -ge 5000
	expect "left out for want of room" $(($(told tb no_room) - no_room)) -le 100
	# data comes for two of ours at most
	expect "echoes of $(($(told tb heard) - heard))" $(($(told ta echoes) - echoes)) \
		-ge $((($(told tb heard) - heard) / 4))
	undamaged
}

# The same twice, for 150 ms each: the end at tb, of a control that wants no telemetry, is one
# socket that makes both connections.
twice='
import sys, threading, time
from ends import disconnect, end_to, listen, set_control
def say(end, until):
    try:
        while time.monotonic() < until:
            end.send(bytes(65536))
    except OSError:
        pass
def talk(end):
    until = time.monotonic() + .15
    thread = threading.Thread(target=say, args=(end, until), daemon=True)
    thread.start()
    try:
        while time.monotonic() < until and end.recv(1 << 20):
            pass
    except OSError:
        pass
    return thread
if sys.argv[1] == "ta":
    with listen(7001, "soze") as port:
        for _ in range(2):
            talk(port.accept()[0])
else:
    end = end_to("10.0.1.1", "cubic")
    for _ in range(2):
        end.connect(("10.0.1.1", 7001))
        thread = talk(end)
        disconnect(end)
        thread.join()'

test_both_ways_of_next_connection()
{
	tc -n tb qdisc replace dev e0 root handle 1: fabric limit 1mb stamp soze || fault "no port"
	no_room=$(told tb no_room) fallbacks=$(told ta fallbacks) heard=$(told tb heard)
	in_ns ta python3 -c "$twice" ta > /run/a 2>&1 &
	sleep 0.05
	in_ns tb python3 -c "$twice" tb > /run/b 2>&1
	wait
	expect "the ends" "$(cat /run/a /run/b)" = ""
	expect "falls back" $(($(told ta fallbacks) - fallbacks)) -eq 0
	expect "options heard" $(($(told tb heard) - heard)) -ge 5000
	expect "left out for want of room" $(($(told tb no_room) - no_room)) -le 200
	undamaged
}

# What a socket has heard on one connection is not told to the peer of its next one: the last byte
# of the first one has no ACK yet, which the receiver keeps back. in_ns NODE python3 -c "$untold" NODE
untold='
import socket, sys, time
from ends import disconnect, end_to, listen, take
if sys.argv[1] == "ta":
    with listen(7002, "soze") as port:
        end = port.accept()[0]
        end.sendall(bytes(300000))
        time.sleep(.1)
        end.sendall(b"x")
        port.accept()[0].recv(1)
else:
    end = end_to("10.0.1.1", "cubic")
    end.connect(("10.0.1.1", 7002))
    take(end, 300000)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    take(end, 1)
    disconnect(end)
    echoes = [int(line.split()[1]) for line in open("/proc/net/fairlane_telemetry") if "echoed" in line]
    end.connect(("10.0.1.1", 7002))
    end.sendall(b"x")
    time.sleep(.01)
    echoes += [int(line.split()[1]) for line in open("/proc/net/fairlane_telemetry") if "echoed" in line]
    print(echoes[0], echoes[1] - echoes[0])'

test_untold_of_last_connection()
{
	in_ns ta python3 -c "$untold" ta > /run/a 2>&1 &
	sleep 0.05
	in_ns tb python3 -c "$untold" tb > /run/b 2>&1
	wait
	expect "the peer" "$(cat /run/a)" = ""
	expect "echoes of the first connection" "$(cut -d ' ' -f 1 /run/b)" -ge 10
	expect "echoes where nothing was heard" "$(cut -d ' ' -f 2 /run/b)" = 0
}

# No room in ACKs full of SACK blocks: left out, counted, the flow goes on.
test_no_room()
{
	tc -n tr qdisc replace dev east root netem limit 1000 rate 1gbit delay 5us loss random 15%
	flow -c soze -n 3 -b 2000000 -L 60000 > /run/a || fault "with losses"
	expect "left out for want of room" "$(told tb no_room)" -ge 10
	undamaged
}

# damage WHAT EDIT WORDS: on the way into tb each segment that has the option at the
# front and otherwise what the filter's WORDS say is changed by pedit's EDIT, its
# checksum made right. Nothing of it may be believed. WHAT: malformed or foreign (is
# it counted as malformed?), and the data arrive; or broken: malformed, and the stack
# refuses the segment, too, or takes other data from it.
damage()
{
	tc -n tb qdisc replace dev e0 clsact
	tc -n tb filter add dev e0 ingress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 ${3-} \
		action pedit munge $2 pipe action csum tcp || fault "filter: $2"
	heard=$(told tb heard) bad=$(told tb bad) echoes=$(told ta echoes)
	if [ "$1" = broken ]; then
		flow -c soze -b 1000000 -L 1000 > /run/a 2>&1
	else
		flow -c soze -b 1000000 -L 2000 > /run/a || fault "$1: $2"
	fi
	expect "$2: options taken" $(($(told tb heard) - heard)) -eq 0
	expect "$2: echoes" $(($(told ta echoes) - echoes)) -eq 0
	case $1 in
	malformed)	expect "$2: malformed" $(($(told tb bad) - bad)) -ge 100 ;;
	broken)		expect "$2: malformed" $(($(told tb bad) - bad)) -ge 1 ;;
	*)		expect "$2: malformed" $(($(told tb bad) - bad)) -eq 0 ;;
	esac
	expect "$2: wrong checksums" "$(counter tb TcpInCsumErrors)" -eq 0
	tc -n tb qdisc del dev e0 clsact
}

# The other option of the same length: what comes is reflected in it, and an echo of an
# option that was never sent is none.
test_other_option()
{
	tc -n tb qdisc replace dev e0 clsact
	tc -n tb filter add dev e0 ingress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 \
		action pedit munge offset 40 u32 set 0xfd08464d pipe \
		action pedit munge offset 44 u32 set 0x0000ffff pipe action csum tcp || fault "filter"
	heard=$(told tb heard) echoed=$(told tb echoed) echoes=$(told ta echoes)
	fallbacks=$(told ta fallbacks)
	flow -c soze -b 1000000 -L 2000 > /run/a || fault "a load instead of a delay"
	expect "loads heard" $(($(told tb heard) - heard)) -ge 100
	expect "loads told" $(($(told tb echoed) - echoed)) -ge 50
	expect "not taken for delays" $(($(told ta echoes) - echoes)) -eq 0
	expect "falls back" $(($(told ta fallbacks) - fallbacks)) -eq 1
	undamaged
	# Words of types that nobody knows say nothing.
	tc -n tb filter del dev e0 ingress
	for word in 0x4000ffff 0x8000c000 0xffff8000; do
		tc -n tb filter add dev e0 ingress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 \
			action pedit munge offset 40 u32 set 0xfd08464d pipe \
			action pedit munge offset 44 u32 set $word pipe action csum tcp || fault "filter"
		heard=$(told tb heard)
		flow -c soze -b 1000000 -L 2000 > /run/a || fault "$word"
		expect "$word: heard" $(($(told tb heard) - heard)) -eq 0
		tc -n tb filter del dev e0 ingress
	done
	tc -n tb qdisc del dev e0 clsact
	undamaged
}

# Segments with a right checksum that have come to $1.
right() { echo $(($(counter "$1" TcpInSegs) - $(counter "$1" TcpInCsumErrors))); }

# A path that eats segments with the option, of data or of ACKs: after two timeouts they
# go without, all of them, and the flow says what it is.
test_eaten()
{
	offloads tso off gso off gro off
	for port in west east; do
		tc -n tr qdisc replace dev $port clsact
		tc -n tr filter add dev $port ingress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 action drop
		eaten=$(told ta eaten)
		flow -c soze -b 2000000 -L 2000 > /run/a || fault "eaten at $port"
		expect "$port: left out" $(($(told ta eaten) - eaten)) -ge 1
		sent=$(told ta sent)
		flow -c soze -b -1 -L 1000 > /run/a &
		sleep 0.9
		expect "$port: state" "$(fairlane -n ta -j flow show cc soze | jq -r 'map(.state) | unique | join(" ")')" = fallback
		wait $!
		expect "$port: options sent" $(($(told ta sent) - sent)) -le 100
		tc -n tr qdisc del dev $port clsact
	done
}

# Options damaged on the way: by somebody who makes the checksum right, then by bits
# that flip, of which the checksum tells.
test_damaged()
{
	offloads tso off gso off gro off
	damage malformed 'offset 41 u8 set 0x09'
	# ... in ACKs, of which the sender's socket tells as well
	tc -n ta qdisc replace dev e0 clsact
	tc -n ta filter add dev e0 ingress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 \
		action pedit munge offset 41 u8 set 0x09 pipe action csum tcp
	flow -c soze -b -1 -L 30 > /run/a &
	sleep 0.02
	expect "malformed ones of a socket" "$(fairlane -n ta -j flow show cc soze | jq '[.[].telemetry_bad] | add')" -ge 10
	wait $!
	tc -n ta qdisc del dev e0 clsact
	damage broken 'offset 41 u8 set 0x01'
	damage broken 'offset 41 u8 set 0xff'
	damage foreign 'offset 40 u8 set 0xfc'
	damage foreign 'offset 42 u8 set 0x47'
	# Nothing but half of it: what was its end are bytes of data now.
	for n in ta tb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_timestamps=0
	done
	damage broken 'offset 32 u8 set 0x60' 'match u8 0x70 0xf0 at 32'
	damage broken 'offset 41 u8 set 0x04 munge offset 32 u8 set 0x60' 'match u8 0x70 0xf0 at 32'
	for n in ta tb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_timestamps=1
	done
	# Bits that flip: what is taken is at most what has a right checksum.
	tc -n tr qdisc replace dev east root netem limit 1000 rate 1gbit corrupt 5%
	tc -n tr qdisc replace dev west root netem limit 1000 corrupt 5%
	bad=$(($(told ta bad) + $(told tb bad)))
	heard=$(told tb heard) echoes=$(told ta echoes)
	right_a=$(right ta) right_b=$(right tb)
	flow -c soze -n 4 -b 4000000 -L 100000 > /run/a || fault "with bits that flip"
	expect "segments with flipped bits" "$(counter tb TcpInCsumErrors)" -ge 100
	expect "ACKs with flipped bits" "$(counter ta TcpInCsumErrors)" -ge 100
	expect "options with flipped bits" $(($(told ta bad) + $(told tb bad) - bad)) -ge 1
	expect "options taken" $(($(told tb heard) - heard)) -ge 5000
	expect "options taken" $(($(told tb heard) - heard)) -le $(($(right tb) - right_b))
	expect "echoes taken" $(($(told ta echoes) - echoes)) -ge 2000
	expect "echoes taken" $(($(told ta echoes) - echoes)) -le $(($(right ta) - right_a))
}

# Signed traffic bears no option, which is counted, and arrives.
test_signed()
{
	before=$(told ta signed)
	sent=$(told ta sent)
	signed ta tb 10.0.1.1 10.0.2.1 soze || fault "a signed connection"
	expect "sockets without" $(($(told ta signed) - before)) -eq 1
	expect "options sent" "$(told ta sent)" -eq "$sent"
	expect "options heard" "$(told tb heard)" -eq 0
	expect "signatures that fail" "$(counter tb TcpExtTCPMD5Failure)" -eq 0
	expect "signatures that lack" "$(counter tb TcpExtTCPMD5NotFound)" -eq 0
}

# A peer that does not reflect: Reno, which fills the line, and is counted.
test_fallback()
{
	in_ns tb sysctl -q -w net.fairlane.telemetry=0
	flow -c soze -n 2 -b -1 -L 200 > /run/a
	sum=$(awk '{ x += $4 } END { print x }' /run/a)
	expect "bytes in 0.2 s without telemetry" "$sum" -ge 20000000
	expect "fallbacks" "$(told ta fallbacks)" -eq 2
	expect "echoes" "$(told ta echoes)" -eq 0
	# Gone and back on a live flow.
	in_ns tb sysctl -q -w net.fairlane.telemetry=2
	flow -c soze -b -1 -L 300 > /run/a &
	sleep 0.1
	in_ns tb sysctl -q -w net.fairlane.telemetry=0
	sleep 0.1
	expect "fallbacks of a live flow" "$(told ta fallbacks)" -eq 3
	echoes=$(told ta echoes)
	in_ns tb sysctl -q -w net.fairlane.telemetry=2
	sleep 0.05
	expect "echoes in 50 ms, since they are back" $(($(told ta echoes) - echoes)) -ge 100
	wait
	# 35.5 MB without interruption
	expect "bytes in 0.3 s" "$(field received 0 /run/a)" -ge 30000000
	# A host that does not want it sends nothing.
	in_ns ta sysctl -q -w net.fairlane.telemetry=0
	sent=$(told ta sent)
	flow -c soze -b 1000000 -L 500 > /run/a || fault "without telemetry here"
	expect "options sent" "$(told ta sent)" -eq "$sent"
}

# Hooks come with the first socket whose control wants telemetry and go some time after
# the last; a host reflects for other sockets only if its administrator says so.
test_on_demand()
{
	for n in ta tb; do
		in_ns $n sysctl -q -w net.fairlane.telemetry=1
	done
	sleep 0.01
	expect "hooks without a user" "$(told ta hooked)" -eq 0
	flow -c cubic -b 1000000 -L 500 > /run/a || fault "cubic"
	expect "hooks with cubic" "$(told ta hooked)" -eq 0
	flow -c soze -b 1000000 -L 500 > /run/a || fault "soze to cubic"
	expect "hooks of the sender" "$(told ta hooked)" -eq 1
	expect "options sent" "$(told ta sent)" -ge 100
	expect "hooks of the receiver" "$(told tb hooked)" -eq 0
	expect "options heard" "$(told tb heard)" -eq 0
	expect "fallbacks" "$(told ta fallbacks)" -eq 1
	# A receiver whose own control wants it reflects.
	in_ns tb sysctl -q -w net.ipv4.tcp_congestion_control=soze
	flow -c soze -b 3000000 -L 500 > /run/a || fault "soze to soze"
	expect "hooks of the receiver" "$(told tb hooked)" -eq 1
	expect "echoes" "$(told ta echoes)" -ge 100
	# ... but for no other socket: cubic's know nothing of the hooks that are there.
	in_ns tb sysctl -q -w net.ipv4.tcp_congestion_control=cubic
	sleep 0.1
	echoes=$(told ta echoes)
	flow -c soze -b 3000000 -L 500 > /run/a || fault "soze to cubic"
	expect "echoes of cubic" "$(told ta echoes)" -eq "$echoes"
	sleep 12
	expect "hooks after the last" "$(told ta hooked) $(told tb hooked)" = "0 0"
	# All sockets, if told.
	in_ns tb sysctl -q -w net.fairlane.telemetry=2
	flow -c soze -b 3000000 -L 500 > /run/a || fault "to a receiver that reflects"
	expect "echoes" $(($(told ta echoes) - echoes)) -ge 100
	in_ns tb sysctl -q -w net.fairlane.telemetry=0
	sleep 0.01
	expect "hooks when switched off" "$(told tb hooked)" -eq 0
	# A namespace goes with its hooks, and with them about to come or to go.
	ip netns add tc && in_ns tc sysctl -q -w net.fairlane.telemetry=2
	ip netns del tc
	undamaged
}

# Counts of all that $1 has heard and said, of every kind: telemetry, messages, credit. Not what
# its settings are.
heard_and_said()
{
	for file in telemetry credit; do
		in_ns "$1" awk 'NF == 2 && $1 != "credit" && $1 != "telemetry" { print $1, $2 }' /proc/net/fairlane_$file
	done
	in_ns "$1" nstat -asz | awk '/^IcmpOut/ { print $1, $2 }'
}

# What a stranger may send to both ends of a connection: options that TCP takes in, and messages
# as border routers send them, about data of ours.
say_everything()
{
	# nothing is in flight then, which the numbers would be behind
	events='5:all:mbps=0' at=10
	for options in fd08464c0010ffff fd08464d0010ffff fd08464d80108010 fd0c4658100000000000ffff \
			fd084658ffc00001 fd09464c0000ffff01010101; do
		events="$events $at:all:inject=$options"
		at=$((at + 1))
	done
	flow -c cubic -n 2 -b -1 $events 20:all:mark > /run/a 2> /run/errors || fault "$(cat /run/errors)"
	in_ns tr python3 -c '
import socket, struct
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
addr = [socket.inet_aton(a) for a in ("10.0.2.1", "10.0.1.1")]
quoted = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 1500, 1, 0, 64, 6, 0, addr[1], addr[0]) + struct.pack("!HHIIBBHHH", 5000, 5000, 1, 1, 0x50, 0x10, 1000, 0, 0)
body = struct.pack("!HH", 0x464d, 0x8b00) + quoted
def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff
icmp = struct.pack("!BBH", 253, 0, checksum(struct.pack("!BBH", 253, 0, 0) + body)) + body
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0, addr[0], addr[1])
for i in range(20):
    out.sendto(ip + icmp, ("10.0.1.1", 0))' || fault "no messages"
	sleep 0.01
}

# Modules that nobody uses: whatever comes is neither looked at nor answered, and frames of ports
# have no receiver. Then hosts that were told to listen: they hear the same words.
test_unused()
{
	load_modules fairlane_credit tcp_mlcc || fault "no modules"
	tc -n tr qdisc replace dev east root pfifo limit 1000
	for n in ta tb; do
		in_ns $n sysctl -q -w net.fairlane.telemetry=1 net.fairlane.credit=0
	done
	# hooks stay for a while
	sleep 12
	for n in ta tb; do
		heard_and_said $n > /run/before-$n
	done
	say_everything
	for n in ta tb; do
		expect "hooks of $n" "$(told $n hooked)" -eq 0
		expect "$n has heard or said" "$(heard_and_said $n | diff /run/before-$n -)" = ''
	done
	expect "frames of ports" "$(grep -ciE '^88b5|^8808' /proc/net/ptype)" -eq 0
	for n in ta tb; do
		in_ns $n sysctl -q -w net.fairlane.telemetry=2 net.fairlane.credit=1
	done
	say_everything
	expect "requests heard if told to" "$(in_ns tb awk '$1 == "requests" { print $2 }' /proc/net/fairlane_credit)" -ge 1
	expect "malformed ones if told to" "$(told tb bad)" -ge 1
	tc -n tr qdisc replace dev east root handle 1: fabric bands 2 switch 1 switch-port 0 frames both band 1 queue isolate || fault "isolate"
	expect "frames of a port that isolates" "$(grep -ciE '^88b5' /proc/net/ptype)" -eq 1
	tc -n tr qdisc replace dev east root pfifo limit 1000
}

# A third host, tc, at tr, and the bottleneck in ta's own port: flows to tb and tc share it.
shared_bottleneck()
{
	ip netns add tc && ip -n tc link set lo up &&
	in_ns tc sysctl -q -w net.fairlane.telemetry=2 net.ipv4.tcp_no_metrics_save=1 &&
	lablink-ctl add e0 netns tc peer far netns tr rate 10gbit delay 2us &&
	host_address tc 3 '' && ip -n tr link set far up &&
	ip -n tr addr add 10.0.3.254/24 dev far &&
	tc -n tr qdisc replace dev east root pfifo limit 1000 &&
	tc -n tr qdisc replace dev west root handle 1: fabric limit 1mb &&
	lablink-ctl set east netns tr rate 10gbit && lablink-ctl set e0 netns tb rate 10gbit &&
	tc -n ta qdisc replace dev e0 root handle 1: fabric rate 1gbit limit 1mb stamp soze
}

# A receiver that says "no queue" in each ACK gets more than its share, from flows that share the
# bottleneck. They go on, and what they believe of their own paths is as before.
test_lying_receiver()
{
	shared_bottleneck || fault "no third host"
	flowgen -f ta -t tc -a 10.0.3.1 -c cubic -b 1000 > /dev/null
	flowgen -f ta -t tc -a 10.0.3.1 -p 5300 -c soze -b -1 -L 400 > /run/honest &
	flow -c soze -b -1 -L 400 > /run/a
	wait
	fair=$(field received 0 /run/honest)
	expect "share beside an honest one, bytes in 0.4 s" "$fair" -ge 20000000
	tc -n tb qdisc replace dev e0 clsact
	tc -n tb filter add dev e0 egress protocol ip u32 match u32 0xfd08464c 0xffffffff at 40 \
		action pedit munge offset 46 u16 set 0 pipe action csum tcp || fault "filter"
	flowgen -f ta -t tc -a 10.0.3.1 -p 5300 -c soze -b -1 400:0:mark 700:0:mark > /run/honest &
	flow -c soze -b -1 -L 400 > /run/a
	sleep 0.2
	queue=$(fairlane -n ta -j flow show dport 5300 | jq '[.[].queue_ns] | add')
	wait
	beside=$(awk '$2 == 400 { print $6 }' /run/honest)
	after=$(awk '$2 == 700 { print $6 }' /run/honest)
	echo "# beside a liar: $beside bytes of $fair, the liar $(field received 0 /run/a)"
	expect "the liar's bytes" "$(field received 0 /run/a)" -gt "$fair"
	expect "bytes beside it" "$beside" -ge 100000
	expect "longest silence beside it, us" "$(awk '$2 == 400 { print $8 }' /run/honest)" -le 50000
	# 35 MB is all of the line
	expect "bytes in 0.3 s after it" "$after" -ge 33000000
	expect "queue that the other one's own ACKs tell, ns" "$queue" -gt 0
	ip netns del tc
}

# A host whose device is in a VRF, which sends each packet through the hook twice.
test_vrf()
{
	if ! ip -n ta link add vrf0 type vrf table 10 2> /dev/null; then
		skip_test "no VRF in this kernel"
		return
	fi
	if ! { ip -n ta link set vrf0 up && ip -n ta link set e0 master vrf0; }; then
		fault "no slave"
	fi
	in_ns ta sysctl -q -w net.ipv4.tcp_l3mdev_accept=1
	# the slave's own routes are the VRF's now
	ip -n ta addr flush dev e0
	host_address ta 1 'table 10' || fault "no address"
	ip -n ta route add 10.0.2.0/24 via 10.0.1.254 dev e0 onlink || fault "no route"
	flow -c soze -n 3 -b 3000000 -L 1000 > /run/a || fault "through a VRF"
	expect "options sent" "$(told ta sent)" -ge 100
	expect "options heard, of those sent" "$(told tb heard)" -eq "$(told ta sent)"
	expect "echoes" "$(told ta echoes)" -ge 100
	# ... and its ACKs have the echo in front.
	flow -r -c soze -n 3 -b 3000000 -L 1000 > /run/a || fault "to a VRF"
	expect "echoes in ACKs" "$(told tb echoes)" -ge 100
	undamaged
}

# A bottleneck that does not tell: seen in the RTT, the queue stays short.
test_silent_bottleneck()
{
	tc -n tr qdisc replace dev east root handle 2: pfifo limit 2000
	in_ns ta sysctl -q -w net.fairlane.line_rate_mbps=10000
	flow -c soze -n 2 -b -1 -L 300 > /run/a
	expect "packets dropped" "$(tc -n tr -s -j qdisc show dev east | jq '.[0].drops')" -le 200
	expect "bytes in 0.3 s" "$(awk '{ x += $4 } END { print x }' /run/a)" -ge 30000000
}

# Windows below one packet: 60 flows on 1 Gbit/s share alike.
test_many_flows()
{
	flow -c soze -n 60 -b -1 -L 3000 > /run/a
	awk '{ n++; x += $4; xx += $4 * $4 }
	     END { print x, n * xx ? int(1000 * x * x / (n * xx)) : 0 }' /run/a > /run/jain
	read -r sum jain < /run/jain
	echo "# $sum bytes, fairness $jain permille"
	expect "bytes of all in 3 s" "$sum" -ge 340000000
	expect "fairness, permille" "$jain" -ge 900
}

# From Söze to another control and back under traffic; then the modules go while
# the sockets, which have telemetry, live on.
test_removal()
{
	flow -c soze -n 4 -b 3000000 -S cubic@100@200 -L 3000 > /run/a || fault "taking turns"
	undamaged
	# Orphans, of earlier tests too, must end at some time: 2000 s at most.
	remove_module tcp_soze 200 10
	insmod "$MODULES/tcp_soze.ko" || fault "tcp_soze is still in use"
	remove_under_sockets soze tcp_soze
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
load || exit 1
tests=${*:-round_trip both_ways both_ways_at_once both_ways_of_next_connection untold_of_last_connection removal no_room eaten damaged signed fallback on_demand unused lying_receiver vrf silent_bottleneck many_flows}
run_tests 1 $tests
