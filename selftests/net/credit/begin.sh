# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2046,SC2086,SC2154,SC3044 # words; credit.sh has the other half; own functions
# How a flow comes to its first credit, sourced by credit.sh.

# TCP Fast Open: the second connection has data in its SYN, and no ACK of its own ends the handshake.
# Credit comes all the same.
test_fast_open()
{
	in_ns xb sysctl -q -w net.ipv4.tcp_fastopen=2
	port=6200
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1; do
			port=$((port + 1))
			in_ns xb python3 ./open.py listen $port 3 > /run/heard 2>&1 &
			sleep 0.05
			opened=$(counter xa TcpExtTCPFastOpenActive) fell=$(credit xa fallbacks)
			in_ns xa python3 ./open.py $cc $addr $port 3 300000 2> /run/errors ||
				fault "$cc to $addr: $(cat /run/errors)"
			wait $! || fault "$cc to $addr: $(cat /run/heard)"
			expect "bytes of $cc to $addr" "$(cat /run/heard)" = "300000 300000 300000"
			expect "fast opens of $cc to $addr" \
				$(($(counter xa TcpExtTCPFastOpenActive) - opened)) -ge 2
			expect "$cc to $addr: fallbacks" $(($(credit xa fallbacks) - fell)) -eq 0
		done
	done
}

# Nobody in either namespace has used an option for long, so there are no hooks, and the first
# request is not seen. A knock brings them.
test_first_flow()
{
	for cc in $controls; do
		for addr in 10.0.2.1 fd00:2::1 ::ffff:10.0.2.1; do
			sleep 12
			asked=$(credit xa asked) seen=$(credit xb requests) got=$(credit xa got)
			flow -a $addr -c $cc -b 300000 -L 1000 > /run/out || fault "$cc to $addr"
			complete /run/out 5000
			first=$(field end 0 /run/out)
			expect "requests that nobody saw" $(($(credit xa asked) - asked - $(credit xb requests) + seen)) -ge 1
			expect "credits" $(($(credit xa got) - got)) -ge 50
			flow -a $addr -c $cc -b 300000 -L 1000 > /run/out || fault "$cc to $addr"
			echo "# $cc to $addr: $first us, then $(field end 0 /run/out)"
			expect "us more than the second" $((first - $(field end 0 /run/out))) -le 4000
		done
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}

# The same on a long path, where much is in flight when the first flow knocks.
test_first_flow_of_long_path()
{
	lablink-ctl set e0 netns xa delay 10ms || fault "no delay"
	for n in xa xb; do
		in_ns $n sysctl -q -w net.ipv4.tcp_rmem="4096 16000000 16000000" \
			net.ipv4.tcp_wmem="4096 16000000 16000000"
	done
	for cc in $controls; do
		sleep 12
		got=$(credit xa got)
		flow -c $cc -b 20000000 -L 5000 > /run/out || fault "$cc"
		complete /run/out 3000000
		echo "# $cc: $(field end 0 /run/out) us, asked $(credit xa asked), $(credit xa stray) stray, $(credit xa wasted) wasted"
		expect "credits" $(($(credit xa got) - got)) -ge 1000
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}

# The control is set after the SYN has left; a listener waits for data (TCP_DEFER_ACCEPT). Both
# are connections as any other.
test_late_and_deferred()
{
	for cc in $controls; do
		for way in late send; do
			got=$(credit xa got)
			odd_server take 6500 $([ $way = late ] || echo defer)
			expect "control, $way" "$(odd $way $cc 10.0.2.1 6500)" = "$cc"
			expect "credits, $way" $(($(credit xa got) - got)) -ge 50
			odd_end
		done
	done
}

# The first connection of a socket found nobody who gives credit. The next one asks anew. Within a
# host FlexPass never waits for credit: it shows nothing here.
test_next_connection()
{
	in_ns xa sysctl -q -w net.fairlane.credit=0
	ip -n xa link set lo up
	for cc in $controls; do
		[ $cc != flexpass ] || continue
		shown=flexpass-reno
		[ $cc != expresspass ] || shown=xpass-reno
		got=$(credit xa got)
		odd_server take 6504
		expect "controls" "$(odd again $cc 10.0.2.1 6504 | tr '\n' ' ')" = "$shown $cc "
		expect "credits of the second" $(($(credit xa got) - got)) -ge 50
		odd_end
	done
}

# A socket that has got credit on one connection gives none of it on the next: the sender there
# knows no number.
test_next_connection_receives()
{
	in_ns xa python3 ./next.py expresspass 6506 > /run/a 2>&1 &
	sleep 0.05
	in_ns xb python3 ./next.py 10.0.1.1 6506 > /run/b 2>&1 || fault "$(cat /run/b)"
	wait
	expect "the peer" "$(cat /run/a)" = ""
	echo "# answers by connection, us: $(tr '\n' ';' < /run/b)"
	expect "first answer of the next connection, us" "$(awk 'NR == 2 { print $1 }' /run/b)" -le 800
}

# SYN cookies: a request that ends the handshake brings the connection's options back.
test_cookies()
{
	in_ns xb sysctl -q -w net.ipv4.tcp_syncookies=2
	odd_server answer 6501 3000000
	for cc in $controls; do
		ms=$(odd early $cc 10.0.2.1 6501)
		echo "# $cc: $ms ms"
		expect "ms for 3 MB from the server" "${ms:-99999}" -le 60
	done
	odd_end
}

# The route leads through another port of the receiver: from now on credits are for that one's line.
# On the way back 10 Gbit/s meet 1 Gbit/s, and red segments are lost while others are out of order.
test_other_port()
{
	lablink-ctl add e1 netns xa peer e1 netns xb rate 10gbit delay 2us || fault "no second link"
	for n in xa xb; do
		[ $n = xa ] && at=1 || at=2
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=0 net.ipv4.tcp_rmem="4096 16000000 16000000" \
			net.ipv4.tcp_wmem="4096 16000000 16000000"
		ip -n $n addr add 10.0.9.$at/24 dev e1
		ip -n $n link set e1 up || fault "e1 not up"
	done
	flow -c cubic -b 1000 -a 10.0.9.2 > /run/out || fault "no way over e1"
	for cc in $heavy; do
		flow -c $cc -b -1 120:all:mark 200:all:mark 320:all:mark 400:all:mark -L 400 > /run/out &
		sleep 0.1
		ip -n xa route add 10.0.2.1/32 via 10.0.9.2
		ip -n xb route add 10.0.1.1/32 via 10.0.9.1 || fault "no route"
		sleep 0.2
		ip -n xa route del 10.0.2.1/32
		ip -n xb route del 10.0.1.1/32 || fault "no route back"
		wait
		echo "# $cc: $(mark_bytes /run/out 2) bytes in 80 ms of 10 Gbit/s, then $(mark_bytes /run/out 4) of 1 Gbit/s"
		expect "bytes at 10 Gbit/s" "$(mark_bytes /run/out 2)" -ge 80000000
		expect "bytes at 1 Gbit/s again" "$(mark_bytes /run/out 4)" -ge 8000000
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}
