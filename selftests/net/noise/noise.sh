#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317 # awk, jq, perl; words; called by name
#
# fairlane noise over links whose noise is known, in virtual time:
#
#	na --- nr --- nb	1 Gbit/s from nr to nb and back; noise from nr to nb
#
# Names of tests as arguments select. Needs root, lablink, ip, jq, perl, setpriv and,
# in PATH, fairlane and lablink-ctl; $MODULES is the modules' folder.
set -u
# shellcheck disable=SC1090,SC1091 # guest.sh is looked at by itself
. "${LIB:?the file selftests/lib/guest.sh}"
: "${MODULES:?folder of the modules}"
figure_7=${FIGURE_7:?the distribution of the figure}
responders=

drop_net()
{
	for pid in $responders; do
		kill "$pid"
		wait "$pid"
	done 2> /dev/null
	responders=
	drop_nodes na nr nb
}

net()
{
	drop_net
	three_nodes na nr nb '10gbit' ''
}

# Equidistant quantiles of the curve in the file $1, as lablink-ctl wants them.
quantiles()
{
	awk '!/^#/ { x[n] = $1 * 1000; p[n++] = $2 }
	     END {
		for (i = k = 0; i <= 1000; i++) {
			q = i / 1000
			while (k < n - 2 && p[k + 1] < q) k++
			printf "%s%d", i ? "," : "", x[k] + (x[k + 1] - x[k]) * (q - p[k]) / (p[k + 1] - p[k])
		}
	     }' "$1"
}

respond()
{
	in_ns nb fairlane noise respond "$@" &
	responders="$responders $!"
	sleep 0.01
}

measure() { in_ns na fairlane -j noise measure "$@"; }
# Value of the member $1 in /run/j.
got() { jq -r ".$1" /run/j; }

# within WHAT VALUE FROM TO
within()
{
	expect "$1" "$2" -ge "$3"
	expect "$1" "$2" -le "$4"
}

# The paper's distribution goes in, and comes out.
test_figure_7()
{
	lablink-ctl set east netns nr noise "$(quantiles $figure_7)" seed 7 || fault "no noise"
	respond
	measure 10.0.2.1 count 10000 line-rate 100gbit > /run/j || fault "measure"
	echo "# $(jq -c .noise_ns /run/j)"
	expect "clock" "$(got clock)" = kernel
	expect "responder's time" "$(got responder_time_excluded)" = true
	expect "discarded" "$(got discarded)" -le 10
	within "p50" "$(got noise_ns.p50)" 162 202
	within "p90" "$(got noise_ns.p90)" 323 383
	within "p99" "$(got noise_ns.p99)" 487 567
	within "p99.85" "$(got noise_ns.p99_85)" 720 876
	within "p99.9" "$(got noise_ns.p99_9)" 740 896
	expect "B" "$(got b_ns)" -eq "$(got noise_ns.p99_85)"
	# the paper's 3.2 us for 150 flows
	expect "A" "$(got a_ns)" -eq 3240
	expect "sum of the histogram" "$(jq '[.histogram[].count] | add' /run/j)" -eq "$(got delays)"
	expect "command" "$(got command)" = "fairlane profile set noise $(got b_ns)ns fluct 3240ns"
	measure fd00:2::1 count 2000 percentile 50 line-rate 10gbit flows 10 ai 300 target 3us > /run/j ||
		fault "IPv6"
	within "p50 as B" "$(got b_ns)" 142 222
	# 2.4 us above the target; below it, half of the target at most
	expect "A, bounded" "$(got a_ns)" -eq 3900
	in_ns na fairlane noise measure 10.0.2.1 count 1000 > /run/t || fault "as text"
	expect "lines of the histogram" "$(grep -c '###' /run/t)" -ge 3
	expect "line to set" "$(grep -c '^to set: fairlane profile set noise [0-9]*ns$' /run/t)" -eq 1
}

# A quiet path, full packets; the process of an echo server is in the result.
test_quiet()
{
	respond port 7007
	measure 10.0.2.1 port 7007 count 1000 size 1448 interval 200us > /run/j || fault "measure"
	expect "p99 of nothing" "$(got noise_ns.p99)" -le 64
	# 12.3 + 1.2 us there, 8 us of links, and back again
	within "delay" "$(got delay_min_ns)" 34000 37000
	in_ns nb perl -MIO::Socket::INET -e '
		$l = IO::Socket::INET->new(Listen => 1, LocalPort => 7, ReuseAddr => 1) or die;
		$c = $l->accept; while (sysread $c, $b, 4096) { syswrite $c, $b }' &
	responders="$responders $!"
	sleep 0.1
	measure 10.0.2.1 port 7 count 1000 > /run/j || fault "echo server"
	expect "responder's time" "$(got responder_time_excluded)" = false
	expect "delays" "$(got delays)" -ge 990
	measure 10.0.2.1 port 7007 count 1000 clock user > /run/j || fault "clock of the process"
	expect "clock" "$(got clock)" = user
	measure self count 1000 > /run/j || fault "self"
	expect "clock" "$(got clock)" = kernel
}

# What is proposed is set, for all or for a prefix; not without privilege.
test_apply()
{
	lablink-ctl set east netns nr noise "$(quantiles $figure_7)" seed 3 || fault "no noise"
	respond
	load_modules fairlane || fault "no module"
	measure 10.0.2.1 count 1000 line-rate 10gbit flows 20 apply > /run/j || fault "apply"
	expect "noise_ns" "$(in_ns na sysctl -n net.fairlane.noise_ns)" -eq "$(got b_ns)"
	expect "fluct_ns" "$(in_ns na sysctl -n net.fairlane.research.fluct_ns)" -eq 4320
	expect "applied" "$(got applied)" = true
	measure 10.0.2.1 count 1000 apply dst 10.0.2.0/24 > /run/j || fault "apply to a prefix"
	in_ns na fairlane -j profile show dst 10.0.2.0/24 > /run/p
	expect "noise of the prefix" "$(grep -c "\"noise_ns\".*$(got b_ns)" /run/p)" -ge 1
	b=$(in_ns na sysctl -n net.fairlane.noise_ns)
	in_ns na setpriv --reuid 1000 --clear-groups --inh-caps=-all --bounding-set=-all \
		fairlane noise measure 10.0.2.1 count 1000 percentile 60 apply > /run/t 2>&1
	expect "exit code without privilege" $? -eq 2
	expect "noise_ns afterwards" "$(in_ns na sysctl -n net.fairlane.noise_ns)" -eq "$b"
}

# refused CODE TEXT WORDS...: the exit code and a message with TEXT
refused()
{
	code=$1 text=$2
	shift 2
	in_ns na timeout 60 fairlane noise "$@" > /run/t 2>&1
	expect "exit code of \"$*\"" $? -eq $code
	grep -q -e "$text" /run/t || fault "\"$*\" says: $(cat /run/t)"
}

test_bad_input()
{
	refused 1 'to which host?' measure
	refused 1 'an integer from 1000' measure self count 999
	refused 1 'an integer from 1000' measure self count -5
	refused 1 'an integer from 24' measure self size 23
	refused 1 'an integer from 24' measure self size 65537
	refused 1 'a time with its unit' measure self interval 5
	refused 1 'at most 10s' measure self interval 11s
	refused 1 'neither kernel nor user' measure self clock mine
	refused 1 'from 50 to 100' measure self percentile 49
	refused 1 'from 50 to 100' measure self percentile 99.855
	refused 1 'no rate' measure self line-rate 5
	refused 1 'no rate' measure self line-rate 2tbit
	refused 1 'an integer from 1 ' measure self flows 0
	refused 1 'an integer from 1 ' measure self ai 0
	refused 1 'no number' measure self port 65536
	refused 1 'dst is for apply' measure self dst 10.0.0.0/8
	refused 1 'no prefix' measure self apply dst 10.0.0/33
	refused 1 'means nothing' measure self please
	refused 1 'means nothing' respond please
	refused 1 'no noise' listen
	refused 2 'no connection to 10.0.2.1 port 5207' measure 10.0.2.1
	refused 2 'no connection' measure 10.0.2.1 port 9
	refused 2 'noise: there.is.none' measure there.is.none
	# silence, and an end in the middle
	in_ns nb perl -MIO::Socket::INET -e '
		$l = IO::Socket::INET->new(Listen => 1, LocalPort => 9, ReuseAddr => 1) or die;
		$c = $l->accept; sysread $c, $b, 10; sleep 100' &
	responders="$responders $!"
	in_ns nb perl -MIO::Socket::INET -e '
		$l = IO::Socket::INET->new(Listen => 1, LocalPort => 10, ReuseAddr => 1) or die;
		$c = $l->accept; for (1 .. 5) { sysread $c, $b, 4096; syswrite $c, $b }' &
	responders="$responders $!"
	sleep 0.2
	refused 2 'no answer to message 1: Connection timed out' measure 10.0.2.1 port 9
	refused 2 'no answer to message 6' measure 10.0.2.1 port 10
}

trap 'drop_net' EXIT
# The stack distrusts times below 1 us, and booting takes none here.
sleep 0.01
tests=${*:-figure_7 quiet apply bad_input}
run_tests 1 $tests
