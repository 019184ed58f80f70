#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086 # words
# Runs each experiment with a qdisc of the kernel and with fabric, on a line of
# exact rate (lablink; its ring holds one frame), and compares errors. Prints KTAP
# and "row|WHAT|QDISC|ITS ERROR|ERROR OF FABRIC". In the lab's guest.
set -u
: "${SEND:?path of fabric_send}"
work=$(mktemp -d) || exit 1
number=0 failed=0

# Two namespaces and a line of the rate $1 between them.
line()
{
	ip netns del a
	ip netns del b
	ip netns add a && ip netns add b &&
	for ns in a b; do
		ip netns exec $ns sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	done
	lablink-ctl add e0 netns a address 02:00:00:00:00:01 \
		peer e0 netns b address 02:00:00:00:00:02 rate "$1" delay 0us overhead 24 ring 1 &&
	ip -n a addr add 10.0.0.1/24 dev e0 && ip -n b addr add 10.0.0.2/24 dev e0 &&
	ip -n a link set e0 up && ip -n b link set e0 up &&
	ip -n a neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev e0 nud permanent &&
	# Nobody answers.
	ip netns exec b sysctl -q -w net.ipv4.icmp_ratelimit=1000000000 net.ipv4.icmp_ratemask=8
	sleep 0.01
} 2>"$work/line"

qdisc() { tc -n a qdisc add dev e0 "$@" || failed=1; }

# DSCP $1 to class $2, for qdiscs that know filters only.
filter()
{
	tc -n a filter add dev e0 parent 1: protocol ip prio 1 u32 \
		match ip tos $(($1 * 4)) 0xfc classid "$2" || failed=1
}

# traffic ROUNDS WORDS...: sends, and records what arrives in $work/record.
traffic()
{
	ip netns exec b "$SEND" record e0 >"$work/record" 2>"$work/ready" &
	until grep -q ready "$work/ready"; do sleep 0.001; done
	ip netns exec a "$SEND" udp 10.0.0.2 "$@" || failed=1
	wait $!
}

# Worst error of the shares in the record, in permille of what is due, when 90 % of
# a band have arrived, and how much of it one turn of the lightest band is: where
# in its turn the end falls is chance. Arguments: DSCP:WEIGHT of the bands.
share_error()
{
	awk -v want="$*" '
		BEGIN { n = split(want, w, " "); for (i = 1; i <= n; i++) { split(w[i], p, ":"); weight[p[1]] = p[2]; sum += p[2] } }
		NR == FNR { total[$2] += $4; next }
		!($2 in weight) || over { next }
		{
			bytes[$2] += $4; all += $4
			over = bytes[$2] > 0.9 * total[$2]
		}
		END {
			for (d in weight) {
				due = all * weight[d] / sum
				error = (bytes[d] > due ? bytes[d] - due : due - bytes[d]) * 1000 / due
				if (error > worst)
					worst = error
			}
			printf "%.2f %.2f", worst, 1514 * 1000 * sum / all
		}' "$work/record" "$work/record"
}

# Packets of lower bands that came before the last of DSCP $1, without the first of
# all, which found the line idle.
inversions()
{
	awk -v high="$1" 'NR == 1 { next } $2 == high { n += low; low = 0; next } { low++ } END { print n + 0 }' "$work/record"
}

# Error of the mean gap in parts per million of $1 ns; the first $2 are a burst.
rate_error()
{
	awk -v gap="$1" -v skip="$2" 'NR == skip { from = $1; at = NR } { to = $1; n = NR }
		END { e = ((to - from) / (n - at) - gap) / gap * 1e6; printf "%.1f", e < 0 ? -e : e }' "$work/record"
}

# Packets marked although they should not be, or not although they should: the
# first $1 should not, all others should.
mark_error()
{
	awk -v first="$1" '(NR <= first) == ($3 == 3) { n++ } END { print n + 0 }' "$work/record"
}

# compare WHAT QDISC ITS-ERROR ERROR-OF-FABRIC, errors perhaps with what is chance.
compare()
{
	number=$((number + 1))
	echo "row|$1|$2|${3% *}|${4% *}"
	if echo "${3% *} $4" | awk '{ exit !(NF >= 2 && $2 <= $1 + $3) }'; then
		echo "ok $number $1: at least as exact as $2"
	else
		echo "# $2: $3, fabric: $4"
		echo "not ok $number $1: at least as exact as $2"
		failed=1
	fi
}

fabric_dscp() { tc -n a qdisc add dev e0 root handle 1: fabric limit 100mb "$@" || failed=1; }
weights()
{
	i=0
	for weight in "$@"; do
		i=$((i + 1))
		tc -n a class change dev e0 classid 1:$i fabric weight "$weight" || failed=1
	done
}

strict()
{
	words="12:1000 8:1000 4:1000"
	for kind in prio ets; do
		line 1gbit
		case $kind in
		prio) qdisc root handle 1: prio bands 3 ;;
		ets) qdisc root handle 1: ets bands 3 strict 3 ;;
		esac
		for i in 1 2 3; do filter $i 1:$i; done
			traffic 300 $words
		its=$(inversions 1)
		line 1gbit
		fabric_dscp bands 3 dscp 1:1 2:2 3:3
			traffic 300 $words
		compare "strict order (packets too early)" $kind "$its" "$(inversions 1)"
	done
}

# shares WHAT KIND ROUNDS WEIGHTS WORDS: of "KIND", weights as of bands from 1 on.
shares()
{
	what=$1 kind=$2 rounds=$3 list=$4 words=$5
	bands=$(echo "$list" | wc -w)
	want='' quanta='' i=0
	for weight in $list; do
		i=$((i + 1)) want="$want $i:$weight" quanta="$quanta $((weight * 1514))"
	done
	line 10gbit
	case $kind in
	drr)
		qdisc root handle 1: drr
		i=0
		for quantum in $quanta; do
			i=$((i + 1))
			tc -n a class add dev e0 parent 1: classid 1:$i drr quantum "$quantum"
			tc -n a qdisc add dev e0 parent 1:$i pfifo limit 100000
		done ;;
	ets)
			qdisc root handle 1: ets bands "$bands" quanta $quanta
		for i in $(seq 1 "$bands"); do
			tc -n a qdisc add dev e0 parent 1:$i pfifo limit 100000
		done ;;
	esac
	for i in $(seq 1 "$bands"); do filter $i 1:$i; done
	traffic "$rounds" $words
	its=$(share_error $want)
	line 10gbit
	# shellcheck disable=SC2046 # words
	fabric_dscp bands "$bands" dscp $(seq 1 "$bands" | sed 's/.*/&:&/')
	weights $list
	traffic "$rounds" $words
	compare "$what" "$kind" "$its" "$(share_error $want)"
}

all_shares()
{
	mixed="4:1500 8:64:10 8:1400 12:700:3 16:64 16:1500:2"
	for kind in drr ets; do
		shares "4 equal shares, any sizes (permille)" $kind 1500 "1 1 1 1" "$mixed"
		shares "shares 1 to 64, any sizes (permille)" $kind 250 "1 64" "4:64 4:1500 8:100:64 8:1464:64"
	done
}

# Strict first, then 1:2, as ets does it.
strict_and_shares()
{
	words="4:1000 8:300:4 12:1500:2"
	line 1gbit
	qdisc root handle 1: ets bands 3 strict 1 quanta 1514 3028
	for i in 1 2 3; do
		filter $i 1:$i
		tc -n a qdisc add dev e0 parent 1:$i pfifo limit 100000
	done
	traffic 1000 $words
	its=$(share_error 2:1 3:2)
	line 1gbit
	fabric_dscp bands 3 dscp 1:1 2:2 3:3
	tc -n a class change dev e0 classid 1:2 fabric weight 1
	tc -n a class change dev e0 classid 1:3 fabric weight 2
	traffic 1000 $words
	compare "1:2 below a strict band (permille)" ets "$its" "$(share_error 2:1 3:2)"
}

rates()
{
	for gbit in 1 10 40; do
		line 400gbit
		qdisc root handle 1: tbf rate ${gbit}gbit burst 3000 limit 10000000
		traffic 2000 0:1500
		# Bytes as tbf counts them: no overhead.
		its=$(rate_error $((12000 / gbit)) 100)
		line 400gbit
		fabric_dscp rate ${gbit}gbit overhead 0
		traffic 2000 0:1500
		compare "rate of $gbit Gbit/s (ppm)" tbf "$its" "$(rate_error $((12000 / gbit)) 100)"
	done
}

# 1000 packets of 1000 bytes at once: the first finds the line idle, each of the
# others finds one more before it.
marking()
{
	line 1gbit
	qdisc root handle 1: red limit 10000000 min 30000 max 30001 avpkt 1000 burst 30 probability 1 bandwidth 1gbit ecn
	traffic 1000 2:1000
	its=$(mark_error 32)
	line 1gbit
	fabric_dscp ecn 30000
	traffic 1000 2:1000
	compare "marks above 30000 bytes (packets)" red "$its" "$(mark_error 32)"

	# Each waits 8192 ns longer: the 14th is the first above 100 us.
	line 1gbit
	qdisc root handle 1: fq_codel limit 10240 flows 1 memory_limit 100mb target 1s interval 2s ce_threshold 100us ecn
	traffic 1000 2:1000
	its=$(mark_error 13)
	line 1gbit
	fabric_dscp
	tc -n a class change dev e0 classid 1:1 fabric ecn-delay 100us
	traffic 1000 2:1000
	compare "marks above 100 us (packets)" fq_codel "$its" "$(mark_error 13)"
	sort -n "$work/record" | awk '$3 == 3 { print "# first mark: packet " NR " at " $1 " ns"; exit }'
}

echo "KTAP version 1"
echo "1..12"
strict
all_shares
strict_and_shares
rates
marking
rm -rf "$work"
exit $failed
