# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2086,SC2154 # words; cc.sh has the other half
# Delays that are no queue, sourced by cc.sh: jitter that was told, jitter that was not.

# Does check say of a flow with the control $1 that the path's jitter is more than was told?
noise_of_a_flow()
{
	flow -c "$1" -b -1 -L 600 > /run/out &
	sleep 0.5
	in_ns ca fairlane -j check | jq -r '.[] | select(.check == "jitter").text' > /run/check
	wait
	[ -s /run/check ]
}

# Who was never told a priority has 0, and an idle line for itself, whose delays jitter a little.
test_default_priority()
{
	lablink-ctl set east netns cr noise 0,2us seed 7 || fault "no noise"
	for cc in cubic $controls prioplus-ledbat; do
		flow -c $cc -b 5000000 -L 1000 > /run/out || fault "$cc has not sent 5 MB in a second"
		# 42 ms at 1 Gbit/s, and what they take to grow
		expect "time of 5 MB with $cc, us" "$(field end 0 /run/out)" -le 80000
	done
	# and one whose delays jitter by as much as was said
	lablink-ctl set east netns cr noise 0,50us seed 7 || fault "no noise"
	in_ns ca sysctl -q -w net.fairlane.noise_ns=50000
	for cc in $controls prioplus-ledbat; do
		flow -c $cc -b 5000000 -L 1000 > /run/out || fault "$cc has not sent 5 MB in a second"
		expect "time of 5 MB with $cc and jitter, us" "$(field end 0 /run/out)" -le 150000
	done
	for cc in swift prioplus; do
		noise_of_a_flow $cc && fault "$cc crawls: $(cat /run/check)"
		in_ns ca sysctl -q -w net.fairlane.noise_ns=800
		noise_of_a_flow $cc || fault "nobody says that $cc crawls: $(cat /run/check)"
		grep -q 'noise_ns, 800, says' /run/check || fault "not by how much: $(cat /run/check)"
		in_ns ca sysctl -q -w net.fairlane.noise_ns=50000
	done
	in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
	lablink-ctl set east netns cr noise off
}

# Is flow show's held_ns of a new flow to the address $1 $2 $3?
held()
{
	# a port of its own: what the flows before have left may still be there
	flow -a "$1" -c prioplus -q 1 -p 5009 -b -1 -L 60 > /run/a &
	sleep 0.05
	in_ns ca fairlane -j flow show dport 5009 > /run/show
	in_ns ca fairlane -j check > /run/check
	wait
	expect "held_ns to $1" "$(jq '.[0].held_ns' /run/show)" "$2" "$3"
}

# Jitter of several channels' height that nobody has told: the first flow finds out within 1.6 s
# and tells those after it to the same address, whatever their priority; check tells the host's
# owner. Many share the line, and the higher priority has most of it. Noise that is told counts
# alone where it is enough. A path that holds nothing any more is one after a while.
test_untold_jitter()
{
	# priority 4's channel is 9 ms above the base RTT in the end, and a full buffer loses SYNs
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 2000
	jitters='50us 200us 1ms'
	[ "$level" != check ] || jitters=200us
	for jitter in $jitters; do
		held 10.0.2.1 -eq 0
		lablink-ctl set east netns cr noise 0,$jitter seed 7 || fault "no noise"
		from=1600
		for what in prioplus:0 prioplus-ledbat:0 prioplus:4; do
			to=$((from + 400))
			flow -c ${what%:*} -q ${what#*:} -b -1 -L $to $from:all:mark $to:all:mark > /run/a
			# 400 ms at 1 Gbit/s are 47 MB
			expect "bytes of $what in 400 ms with $jitter" "$(marked /run/a $to)" -ge 35000000
			# whoever comes later knows it
			from=100
			held fd00:2::1 -eq 0
			held 10.0.2.1 -ge 25000
			jq -e '.[] | select(.check == "held" and .verdict == "note")' /run/check > /dev/null ||
				fault "check says nothing"
		done
		flow -c prioplus -q 1 -b -1 -L 900 > /run/low &
		sleep 0.2
		# 35 MB are all; channels of several ms take a while to fill
		least=26000000
		[ $jitter = 1ms ] && least=21000000
		flow -c prioplus -q 4 -p 5001 -b -1 -L 700 400:all:mark 700:all:mark > /run/a
		wait
		expect "bytes of the high one in 300 ms with $jitter" "$(marked /run/a 700)" -ge $least
		if [ $jitter = 200us ]; then
			flow -c prioplus -q 1 -n 8 -b -1 -L 1000 > /run/a
			expect "fairness with $jitter, permille" "$(shares /run/a | cut -d' ' -f2)" -ge 700
		fi
		in_ns ca sysctl -q -w net.fairlane.noise_ns=20000000
		held 10.0.2.1 -eq 0
		in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
		held 10.0.2.1 -ge 25000
		lablink-ctl set east netns cr noise off
		sleep 40
	done
	held 10.0.2.1 -eq 0
	tc -n cr qdisc replace dev east root handle 1: pfifo limit 500
}

# The same on a path of 10 ms where packets overtake each other: no flow is silent for a thousand
# round trips.
test_untold_long_jitter()
{
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100
	lablink-ctl set east netns cr rate 100mbit
	for dev in east west; do
		tc -n cr qdisc replace dev $dev root netem limit 10000 delay 5ms 2ms || fault "no netem"
	done
	flow -c prioplus -b -1 -L 7000 4000:all:mark 7000:all:mark > /run/a
	# 3 s at 100 Mbit/s are 35 MB
	expect "bytes in 3 s" "$(marked /run/a 7000)" -ge 20000000
}

# Noise that was told: where it is there, a lone flow has the line, with the lowest priority as with
# others; where it is not, flows that share the line do not stop when base RTTs are renewed.
test_told_noise()
{
	in_ns ca sysctl -q -w net.fairlane.noise_ns=200000
	lablink-ctl set east netns cr noise 0,200us seed 7 || fault "no noise"
	for what in prioplus:0 prioplus-ledbat:0 prioplus:1; do
		flow -c ${what%:*} -q ${what#*:} -b -1 -L 1000 500:all:mark 1000:all:mark > /run/a
		# half a second at 1 Gbit/s is 59 MB
		expect "bytes of $what in 500 ms" "$(marked /run/a 1000)" -ge 50000000
	done
	# priority 1 has the line alone, also where twice the jitter was told
	in_ns ca sysctl -q -w net.fairlane.noise_ns=400000
	flow -c prioplus -q 0 -n 8 -b -1 -L 1000 500:all:mark 1000:all:mark > /run/a &
	sleep 0.4
	flow -c prioplus -q 1 -p 5900 -b -1 -L 600 100:all:mark 600:all:mark > /run/b
	wait
	expect "bytes of priority 1 in 500 ms" "$(marked /run/b 600)" -ge 56000000
	expect "bytes of eight of priority 0 meanwhile" \
		"$(($(marked /run/a 1000 | paste -sd+)))" -le 600000
	lablink-ctl set east netns cr noise off
	[ "$level" = check ] || renewed_below_told_noise
	in_ns ca sysctl -q -w net.fairlane.noise_ns=10000
}

# The queue is gone for some ms when base RTTs are renewed, and nobody takes that for room.
renewed_below_told_noise()
{
	in_ns ca sysctl -q -w net.fairlane.noise_ns=1000000
	flow -c prioplus -q 3 -n 8 -b -1 -L 4000 > /run/a &
	sleep 3.9
	in_ns ca fairlane -j flow show > /run/show
	wait
	expect "stops of eight" "$(jq '[.[].stops] | add' /run/show)" -eq 0
}

# A long path's base RTT is renewed each 2.1 s: the window leaves at once after that, and its
# queue is not another's.
test_dips()
{
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=100
	lablink-ctl set east netns cr rate 100mbit
	lablink-ctl set east netns cr delay 2ms
	flow -c prioplus -q 3 -b -1 -L 7000 > /run/a &
	sleep 6.9
	in_ns ca fairlane -j flow show > /run/show
	wait
	expect "stops" "$(jq '.[0].stops' /run/show)" -eq 0
	expect "bytes" "$(field received 0 /run/a)" -ge 76000000
	lablink-ctl set east netns cr delay 2us
	lablink-ctl set east netns cr rate 1gbit
	in_ns ca sysctl -q -w net.fairlane.line_rate_mbps=1000
}
