# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154 # words; cc.sh has the other half
# Paths, sourced by cc.sh: base RTTs measured and given, other routes, rates and MTUs.

# The path's MTU shrinks. The first flow that is told changes the host's route, and a flow with a packet
# or two in flight has none when it finds its packets too large for that: it waited 200 ms for a timer.
test_smaller_path_mtu()
{
	as_it_comes
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} rate 1gbit
	done
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=1000
	for d in ca:e0 cr:west cr:east cb:e0; do
		ip -n ${d%:*} link set ${d#*:} mtu 9000 || fault "no MTU of 9000"
	done
	for cc in swift ledbat prioplus; do
		flow -c $cc -q 1 -n 8 -b -1 -L 240 > /run/a &
		sleep 0.02
		ip -n cr link set east mtu 1400 || fault "no MTU of 1400"
		wait
		while read -r _ n _ received _ longest _; do
			expect "longest gap of flow $n of $cc ($received bytes), us" "$longest" -le 100000
		done < /run/a
		ip -n cr link set east mtu 9000
		# what the host has learned of the path
		ip -n ca route flush cache
	done
}

# A lone flow of Swift on paths of any length: its base RTT is not short by a part of a microsecond,
# which is as much as its target is above that.
test_any_length()
{
	as_it_comes
	for delay in 2us 2300ns 2700ns 5us; do
		lablink-ctl set east netns cr delay $delay
		flow -c swift -b -1 -L 30 > /run/a
		# 30 ms at 10 Gbit/s are 35 MB of payload
		expect "bytes of swift at $delay" "$(field received 0 /run/a)" -ge 31000000
	done
}

# A line that is slower than the device, which nobody has told: a packet takes longer than that of ten
# links as fast as the device, and the base RTT has that time in it.
test_slower_line()
{
	as_it_comes
	lablink-ctl set east netns cr rate 1gbit
	lablink-ctl set e0 netns cb rate 1gbit
	# its base RTT is that of two links of 10 Gbit/s at first
	flow -c swift -b -1 -L 100 > /run/a
	# of 12 MB
	expect "bytes of swift in 100 ms" "$(field received 0 /run/a)" -ge 8000000
	for cc in prioplus prioplus-ledbat; do
		flow -c $cc -b -1 -L 300 > /run/a &
		sleep 0.25
		in_ns ca fairlane -j flow show dport 5000 > /run/show
		wait
		# 10 and 1 Gbit/s, 8 us and an ACK
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -ge 22000
		# of 35 MB
		expect "bytes of $cc" "$(field received 0 /run/a)" -ge 9000000
	done
}

# The same behind a shaper, whose bursts are some packets: a lone flow of priority 0 stops for single
# packets, has .6 of the line, and check says why. A line rate that is measured cures it.
test_slower_line_measured()
{
	as_it_comes
	for dev in 'east netns cr' 'e0 netns cb'; do
		lablink-ctl set $dev rate 1gbit delay 150us || fault "no link"
	done
	tc -n cr qdisc replace dev east root tbf rate 800mbit burst 16kb latency 20ms || fault "no shaper"
	for measured in 0 1; do
		in_ns ca sysctl -q -w net.fairlane.research.line_rate_measured=$measured
		flow -c prioplus -b -1 -L 600 200:0:mark 600:0:mark > /run/a &
		sleep 0.3
		in_ns ca fairlane -j check | jq -r '.[] | select(.check == "slow-line").text' > /run/check
		wait
		echo "# line_rate_measured=$measured: $(marked /run/a 600) bytes in 400 ms; $(cat /run/check)"
		if [ $measured = 0 ]; then
			grep -q 'prio 0 takes the line for one of 10000 Mbit/s' /run/check || fault "check says nothing"
		else
			grep . /run/check && fault "check says so still"
			# of 38 MB
			expect "bytes of a flow that measures" "$(marked /run/a 600)" -ge 36000000
		fi
	done
	in_ns ca sysctl -q -w net.fairlane.research.line_rate_measured=0
}

# Flows that share a line of their device's rate stop as often, to take turns, and use it: check says
# nothing of them.
test_turns_on_a_true_line()
{
	as_it_comes
	for dev in 'e0 netns ca' 'west netns cr' 'east netns cr' 'e0 netns cb'; do
		lablink-ctl set $dev rate 1gbit delay 5us || fault "no link"
	done
	flow -c prioplus -q 0 -n 32 -b -1 -L 600 > /run/a &
	sleep 0.3
	in_ns ca fairlane -j flow show dport 5000 > /run/show
	stops=$(jq '[.[].stops] | add' /run/show)
	in_ns ca fairlane -j check > /run/check
	wait
	echo "# $stops stops in 300 ms"
	# each of them eight times in 80 ms, and more
	expect "stops of 32 flows in 300 ms" "${stops:-0}" -ge 960
	jq -r '.[] | select(.check == "slow-line").text' /run/check | grep . && fault "check says that they stop in vain"
	return 0
}

# The stack measures an ACK of what was sent again in whole milliseconds, by the time that it echoes.
# That is no base RTT: on a path of 1.8 ms every control had one of 1 ms for ever after its first
# loss.
test_loss_and_base_rtt()
{
	lablink-ctl set east netns cr delay 900us || fault "no delay"
	lablink-ctl set west netns cr delay 880us || fault "no delay"
	for cc in swift ledbat prioplus soze; do
		again=$(counter ca TcpRetransSegs)
		# a SYN that is lost would cost a second, and there would be no flow to look at
		tc -n cr qdisc replace dev east root netem limit 1000 rate 1gbit || fault "netem"
		flow -c $cc -b -1 -L 500 > /run/a &
		sleep 0.05
		tc -n cr qdisc change dev east root netem limit 1000 rate 1gbit loss random 1% ||
			fault "netem"
		sleep 0.4
		in_ns ca fairlane -j flow show dport 5000 > /run/show
		wait
		echo "# $cc: $(field received 0 /run/a) bytes, $(($(counter ca TcpRetransSegs) - again)) sent again"
		expect "sent again by $cc" "$(counter ca TcpRetransSegs)" -gt "$again"
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -ge 1780000
		expect "base RTT of $cc, ns" "$(jq '.[0].base_rtt_ns' /run/show)" -le 1850000
	done
}

# Base RTT that ss shows of the flow to port $1, us.
mrtt_us() { ss_of "$1" | sed -n 's/.*mrtt:\([0-9.]*\).*/\1/p' | awk '{ print int($1 * 1000) }'; }

# Measured base RTTs: a flow that begins while another one keeps a queue knows
# the empty path all the same, even if that queue has stood for longer than
# minima are remembered (4.3 s).
test_base_rtt()
{
	lablink-ctl set east netns cr rate 100mbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 \
		net.fairlane.research.fluct_ns=300000 net.fairlane.noise_ns=50000
	flow -c prioplus -q 5 -b -1 -L 6000 > /run/high &
	sleep 5.5
	flow -c prioplus -q 2 -p 5001 -b -1 -L 300 > /run/low &
	sleep 0.2
	base=$(mrtt_us 5001)
	wait
	# 123 us for a packet of 1538 bytes, the queue is 1750 us.
	expect "base RTT, us" "${base:-0}" -ge 120
	expect "base RTT, us" "${base:-0}" -le 160
	expect "bytes of the low one" "$(field received 0 /run/low)" -le 100000
	# 6 s at 11.8 MB of payload
	expect "bytes of the high one" "$(field received 0 /run/high)" -ge 69000000
	lablink-ctl set east netns cr rate 1gbit
}

# A base RTT that was given: what no packet has taken is not believed, and check says so; a shorter one
# is.
test_base_rtt_given()
{
	for given_us in 500 15; do
		in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=${given_us}000
		flow -c prioplus -q 2 -b -1 -L 40 > /run/a &
		sleep 0.03
		in_ns ca fairlane -j flow show > /run/show
		in_ns ca fairlane -j check > /run/check
		wait
		base_ns=$(jq '.[0].base_rtt_ns' /run/show)
		if [ $given_us = 500 ]; then
			between "base RTT, ns" "$base_ns" 20000 45000
			jq -e '.[] | select(.check == "shorter" and .verdict == "note")' /run/check > /dev/null ||
				fault "check says nothing"
		else
			expect "base RTT, ns" "$base_ns" -eq 15000
			jq -e '.[] | select(.check == "shorter")' /run/check > /dev/null && fault "check complains"
		fi
	done
	in_ns ca sysctl -q -w net.fairlane.base_rtt_ns=0
}

# Base RTTs of flows $1, spread and least, ns.
bases_ns()
{
	in_ns ca fairlane -j flow show | jq -r '[.[].base_rtt_ns] |
		"\(length) \(max - min) \(min)"'
}

# Handshakes and first packets tell the base RTT to the ns: flows to eight addresses, which
# know nothing of each other, agree, before they have sent anything and after.
test_base_rtt_agrees()
{
	for i in 1 2 3 4 5 6 7 8; do
		ip -n cb addr add 10.0.2.1$i/24 dev e0
		flow -c prioplus -q 3 -a 10.0.2.1$i -p 510$i -L 40 \
			0:all:mbps=0 $((10 + 3 * i)):all:mbps=-1 $((11 + 3 * i)):all:mbps=0 &
		sleep 0.0001$i$i$i$i
	done
	sleep 0.005
	bases_ns > /run/early
	sleep 0.03
	bases_ns > /run/late
	wait
	echo "# flows, spread and least, ns: $(cat /run/early /run/late | paste -sd' ')"
	read -r n spread _ < /run/early
	expect "flows that wait" "$n" -eq 8
	expect "spread before they send, ns" "$spread" -le 100
	read -r n spread _ < /run/late
	expect "flows" "$n" -eq 8
	expect "spread, ns" "$spread" -le 100
}

# Bytes that tables of paths and large tables take while "$@" runs.
path_bytes()
{
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	echo > /sys/kernel/tracing/trace
	echo 1 > /sys/kernel/tracing/events/kmem/kmalloc/enable || fault "no event of memory"
	"$@"
	echo 0 > /sys/kernel/tracing/events/kmem/kmalloc/enable
	sed -n 's/.*call_site=[_a-z]*\(fl_paths\|kvmalloc\).* bytes_alloc=\([0-9]*\).*/\2/p' /sys/kernel/tracing/trace |
		awk '{ n += $1 } END { print n + 0 }'
}

new_namespace() { ip netns add cx && ip netns del cx; }
measuring_flow() { flow -c prioplus -q 3 -a 10.0.2.1 -b 100000 > /dev/null; }

# A table of paths is there with the first flow that measures, and only the part that the
# flow needs: containers that have no such flow take nothing.
test_base_rtt_memory()
{
	idle=$(path_bytes new_namespace)
	used=$(path_bytes measuring_flow)
	echo "# a new namespace takes $idle bytes, its first flow $used"
	expect "bytes of a namespace without flows" "$idle" -eq 0
	expect "bytes with the first flow" "$used" -gt 0
	# two hosts, two directions of 2 kB
	expect "bytes with the first flow" "$used" -le 8192
}

# The path becomes longer by 500 us, and shorter again: flows go on, and know the
# new base RTT when the old one is forgotten (4.3 s).
test_path_change()
{
	lablink-ctl set east netns cr rate 100mbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100 \
		net.fairlane.research.fluct_ns=300000 net.fairlane.noise_ns=50000
	flow -c prioplus -q 3 -b -1 -L 10500 > /run/a &
	sleep 1
	tc -n cr qdisc replace dev west root netem limit 1000 delay 500us
	sleep 5
	base=$(mrtt_us 5000)
	start=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	sleep 1
	end=$(in_ns cb cat /sys/class/net/e0/statistics/rx_bytes)
	tc -n cr qdisc del dev west root
	# the queue takes up what the path has lost until a window turns
	sleep 2.5
	again=$(mrtt_us 5000)
	wait
	expect "base RTT of the longer path, us" "${base:-0}" -ge 600
	expect "base RTT of the longer path, us" "${base:-0}" -le 720
	# 1 s at 100 Mbit/s
	expect "bytes on the longer path" $((end - start)) -ge 11800000
	expect "base RTT of the shorter path, us" "${again:-1000}" -le 160
	expect "bytes of all" "$(field received 0 /run/a)" -ge 110000000
	lablink-ctl set east netns cr rate 1gbit
}

# The same with Swift, whose base RTT is its own: it has the line again within a second.
test_longer_route()
{
	delays='100us 1ms'
	[ "$level" != check ] || delays=1ms
	for delay in $delays; do
		flow -c swift -b -1 -L 2300 1700:all:mark 2200:all:mark > /run/a &
		sleep 0.2
		lablink-ctl set east netns cr delay $delay || fault "no delay"
		wait
		got=$(marked /run/a 2200)
		# 500 ms at 1 Gbit/s are 58 MB
		expect "bytes in 500 ms on a path longer by $delay" "${got:-0}" -ge 52000000
		lablink-ctl set east netns cr delay 2us
	done
}

# The same where the path is twenty times as long as it was: Swift had nothing for good.
test_much_longer_route()
{
	as_it_comes
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=200
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} rate 200mbit delay 50us
	done
	flow -c swift -b -1 -L 2000 1500:all:mark 2000:all:mark > /run/a &
	sleep 0.5
	for d in east:cr e0:cb; do
		lablink-ctl set ${d%:*} netns ${d#*:} delay 2ms || fault "no delay"
	done
	wait
	# 500 ms at 200 Mbit/s are 12 MB, and the window grows by a tenth of a packet in an RTT
	expect "bytes in 500 ms, 1 s after the change" "$(marked /run/a 2000)" -ge 2500000
}
