# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154,SC3044 # words; credit.sh has the other half; own functions
# Peers and strangers, sourced by credit.sh: idle ones, poor ones, those who reset, lie or forge.

# Aborts at any moment, both ends; nothing is left.
test_aborts()
{
	for cc in $controls; do
		for ms in 1 3 10; do
			flow -c $cc -n 60 -b -1 $ms:all:abort > /run/out
			expect "aborted" "$(grep -c 'state aborted' /run/out)" -eq 60
			flow -r -c $cc -n 60 -b -1 $ms:all:abort > /run/out
			expect "aborted" "$(grep -c 'state aborted' /run/out)" -eq 60
		done
		flow -c $cc -n 20 -b 100000 -e -L 2000 > /run/out || fault "lost data at close()"
		complete /run/out 100000
	done
	sleep 2
	expect "sockets left" "$(in_ns xa ss -tnH state established | wc -l)" -eq 0
	given=$(credit xb given)
	sleep 1
	expect "credits to nobody" "$(credit xb given)" -eq "$given"
}

# Without SACK, without time stamps.
test_poor_peers()
{
	for key in tcp_timestamps tcp_sack; do
		in_ns xb sysctl -q -w net.ipv4.$key=0
		for cc in $controls; do
			flow -c $cc -n 2 -b 3000000 -L 1000 > /run/out || fault "$cc without $key"
			complete /run/out 50000
		done
		in_ns xb sysctl -q -w net.ipv4.$key=1
	done
}

# Credits and requests of somebody who is not the peer: none is believed, and the counters tell.
# Of somebody who sees everything: as many credits as the receiver bears, no more.
test_forged()
{
	for cc in $controls; do
		in_ns xa sysctl -q -w net.ipv4.ip_local_port_range='30000 30000'
		flow -c $cc -b -1 -L 40 > /run/out &
		sleep 0.01
		stray=$(credit xa stray) requests=$(credit xb requests)
		in_ns xr python3 ./forge.py credit 10.0.2.1 5000 10.0.1.1 30000 2000 || fault "forge.py"
		in_ns xr python3 ./forge.py request 10.0.1.1 30000 10.0.2.1 5000 2000 || fault "forge.py"
		expect "credits not believed" $(($(credit xa stray) - stray)) -ge 1990
		expect "requests that were believed" $(($(credit xb requests) - requests)) -le 20
		wait
		expect "malformed" "$(credit xa bad)" -eq 0
		in_ns xr python3 ./forge.py garbage 10.0.2.1 5000 10.0.1.1 30000 500 || fault "forge.py"
	done
}

# lied DEV TYPE ADD WHAT: two flows, and for 10 ms somebody behind DEV adds ADD to what the first one's
# options of a TYPE say. 50 ms later each has what it had, or nearly.
lied()
{
	marks='40:all:mark 70:all:mark 130:all:mark 160:all:mark'
	flow -c flexpass -b -1 $marks > /run/a &
	flow -c flexpass -p 5001 -b -1 $marks > /run/b &
	sleep 0.07
	[ $1 = west ] && at=20 || at=22
	tc -n xr qdisc replace dev $1 clsact
	tc -n xr filter add dev $1 egress protocol ip u32 match u16 5000 0xffff at $at \
		match u32 0xfd004658 0xff00ffff at 40 match u32 $2 0xf0000000 at 44 \
		action pedit ex munge offset 44 u32 add $3 pipe action csum tcp || fault "no filter"
	sleep 0.01
	hits=$(tc -n xr -s -j filter show dev $1 egress | jq '[.[].options.actions[]?.stats.packets] | max')
	tc -n xr qdisc del dev $1 clsact
	wait
	echo "# $4, $hits times: $(mark_bytes /run/a 2) and $(mark_bytes /run/b 2), then $(mark_bytes /run/a 4) and $(mark_bytes /run/b 4) bytes"
	expect "false $4" $hits -ge 10
	for f in a b; do
		expect "bytes after false $4" "$(mark_bytes /run/$f 4)" -ge $(($(mark_bytes /run/$f 2) * 7 / 10))
	done
}

# Counts of red segments and of marks that were false are forgotten.
test_lies()
{
	lablink-ctl set east netns xr delay 500us || fault "no delay"
	lied west 0x60000000 0x03e80000 "counts of what has come"
	lied west 0x60000000 4000 "counts of marks"
	lied east 0x50000000 0x03e80000 "counts of what was sent"
}

test_idle_flows()
{
	for cc in $controls; do
		flow -c $cc -n 400 -b 20000 -w 2000@100000 -L 4000 > /run/out || fault "$cc"
		complete /run/out 150000
	done
}

# Three hundred connections ask for credit, each twice a second, and send nothing: another flow has
# the line. With 64 credits after each of five silences, again at each request, it had .004 of it.
test_promises()
{
	ip netns exec xb python3 ./promise.py take 6600 &
	sleep 0.05
	ip netns exec xr python3 ./promise.py 10.0.2.254 10.0.2.1 6600 300 500 &
	sleep 0.7
	requests=$(credit xb requests) given=$(credit xb given)
	flow -c expresspass -b -1 -L 100 > /run/out || fault "no flow"
	requests=$(($(credit xb requests) - requests)) given=$(($(credit xb given) - given))
	echo "# beside $requests requests: $given credits, $(cat /run/out)"
	expect "requests" $requests -ge 30
	# 100 ms of the line are 11 MB
	expect "bytes of who sends" "$(field received 0 /run/out)" -ge 10000000
	ip netns pids xr | xargs -r kill
	ip netns pids xb | xargs -r kill
}

# kB of the kernel's slabs that are in use
slabs() { awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo; }

# Ten thousand connections that have nothing to send: nobody gives or asks for credit, another
# flow has the line, and what they take is a fixed amount each, given back at their end.
test_many_idle()
{
	for cc in reno $heavy; do
		rm -f /run/many.*
		before=$(slabs) fell=$(credit xa fallbacks)
		mkfifo /run/idle
		exec 7<> /run/idle
		# in parts, since a process looks at all of its connections for each event
		part=0
		while [ $part -lt 10 ]; do
			(
				# a function's own redirection would keep it open
				exec 7>&-
				flow -c $cc -n 1000 -b 3000 -p $((6000 + part)) -h \
					< /run/idle > /run/many.$part 2>&1
			) &
			tries=0
			until grep -qs holding /run/many.$part; do
				tries=$((tries + 1))
				[ $tries -lt 100 ] || { fault "$cc: not all data came"; break; }
				sleep 0.1
			done
			part=$((part + 1))
		done
		# what red data that came late has its sender ask for
		sleep 0.1
		given=$(credit xb given) asked=$(credit xa asked) idle=$(($(slabs) - before))
		sleep 1
		expect "$cc: credits for idle flows" $(($(credit xb given) - given)) -eq 0
		expect "$cc: requests of idle flows" $(($(credit xa asked) - asked)) -eq 0
		flow -c $cc -n 1 -b 2000000 -L 1000 > /run/out || fault "$cc beside idle flows"
		complete /run/out 20000
		exec 7>&-
		wait
		rm /run/idle
		sleep 2
		left=$(($(slabs) - before))
		echo "# $cc: slabs $idle kB with 10000 idle flows, $left kB after them"
		if [ $cc = reno ]; then
			reno_idle=$idle reno_left=$left
			continue
		fi
		# a thousand that ask at once: some hundred of expresspass give up waiting
		echo "# $cc: $(($(credit xa fallbacks) - fell)) flows fell back"
		# sender, receiver and what the hooks keep
		expect "$cc: bytes of an idle flow beside reno's" $(((idle - reno_idle) * 1024 / 10000)) -le 2048
		expect "$cc: kB that stay, beside reno" $((left - reno_left)) -le 2048
	done
}

# Who has reset, or was reset and not closed by its application, asks for nothing and gives nothing.
test_resets()
{
	for cc in $controls; do
		odd_server reset 6504
		odd stay $cc 10.0.2.1 6504 &
		client=$!
		sleep 0.1
		asked=$(credit xa asked)
		sleep 0.8
		expect "requests after a reset" $(($(credit xa asked) - asked)) -eq 0
		wait $client
		odd_end
		odd_server keep 6505
		odd reset $cc 10.0.2.1 6505
		sleep 0.05
		given=$(credit xb given) resets=$(counter xa TcpOutRsts)
		sleep 1
		expect "credits after a reset" $(($(credit xb given) - given)) -eq 0
		expect "resets" $(($(counter xa TcpOutRsts) - resets)) -eq 0
		odd_end
	done
	expect "flows that fell back" "$(credit xa fallbacks)" -eq 0
}
