#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2048 # names of tests are words
# shellcheck disable=SC1090,SC2154 # $LIB sets what is not set here
#
# The control plane in the lab's guest: every test of ctl in a namespace of its
# own, then what needs modules to come and go. Names of tests as arguments
# select. Needs root; in PATH: ctl, ip, tc. $MODULES is the folder of the modules.
set -u
: "${MODULES:?folder of the modules}"
. "$LIB"
number=0
failed=0

load()
{
	for m in fairlane tcp_swift tcp_ledbat tcp_prioplus; do
		insmod "$MODULES/$m.ko" || return 1
	done
}

unload()
{
	# Sockets end in the background.
	for m in tcp_prioplus tcp_ledbat tcp_swift fairlane; do
		tries=0
		until rmmod $m 2> /run/rmmod; do
			tries=$((tries + 1))
			[ $tries -lt 100 ] || { cat /run/rmmod; return 1; }
			sleep 0.5
		done
	done
}

# Sockets of other controls have settings while the module goes, and comes back.
module_unload()
{
	for round in 1 2 3 4 5; do
		unload || return 1
		load || return 1
		rm -f /run/held /run/looked
		ctl hold > /run/held &
		holder=$!
		ctl look > /run/looked &
		looker=$!
		until grep -q held /run/held && grep -q looking /run/looked; do
			kill -0 "$holder" || return 1
			sleep 0.01
		done
		unload || return 1
		wait "$looker" || { cat /run/looked; return 1; }
		[ $((round % 2)) -eq 0 ] || load || return 1
		kill -USR1 "$holder"
		wait "$holder" || { cat /run/held; return 1; }
		lsmod | grep -q '^fairlane' || load || return 1
	done
}

# Pads are unknown to the client: processors that load unaligned words have none.
ynl()
{
	/usr/bin/python3 "$YNL/cli.py" --process-unknown --no-schema --spec "$SPEC" "$@"
}

# ynl_shows TEXT ARGUMENTS: the kernel's own client prints something like that.
ynl_shows()
{
	text=$1
	shift
	ynl "$@" > /run/ynl 2>&1
	grep -q "$text" /run/ynl && return
	echo "ynl $* does not show $text:"
	cat /run/ynl
	return 1
}

# The specification by a client that knows nothing else of us.
ynl_client()
{
	[ -n "${YNL-}" ] || { skip_test "no ynl in the kernel's source"; return; }
	/usr/bin/python3 -c 'import yaml, jsonschema' 2> /dev/null || { skip_test "no python3-yaml or python3-jsonschema"; return; }
	/usr/bin/python3 ./spec.py "$SPEC" "$HEADER" || return 1
	ip netns add ynl && ip -n ynl link set lo up || return 1
	ctl hold > /run/held &
	holder=$!
	until grep -q held /run/held; do sleep 0.01; done
	# ctl makes a namespace for itself
	mount --bind "/proc/$holder/ns/net" /run/netns/ynl &&
	ip netns exec ynl "$0" ynl_inside
	status=$?
	kill "$holder"
	wait "$holder"
	umount /run/netns/ynl
	ip netns del ynl
	return "$status"
}

ynl_inside()
{
	ynl_shows "'priority-max': 6" --do limit-get &&
	ynl_shows None --do limit-set --json '{"priority-max": 7}' &&
	ynl_shows "'priority-max': 7" --do limit-get &&
	ynl_shows "'order': 10" --do policy-add --json '{"rport-min": 99, "priority": 9, "cc": "cubic"}' &&
	ynl_shows "priority is not in 0..15" --do policy-add --json '{"priority": 16}' &&
	ynl_shows "'rport-max': 99" --dump policy-get &&
	ynl_shows "'weight-milli': 2000" --dump flow-get &&
	ynl_shows "'weight-from': 'sockopt'" --dump flow-get &&
	ynl_shows "'flags': {'listener'}" --dump flow-get &&
	ynl_shows 'no TCP socket with this cookie' --do flow-set --json '{"cookie": 1048576000, "priority": 1}' &&
	ynl_shows None --do profile-set --json '{"setting": [{"name": "ai_bytes", "value": 151}]}' &&
	ynl_shows "'value': 151" --do profile-get &&
	ynl_shows "'used-milli': 12000" --dump budget-get &&
	ynl_shows "'version':" --do stats-get
}

# Runs a test and prints its KTAP line.
report()
{
	number=$((number + 1))
	rm -f "$skip_mark"
	"$@" > /run/out 2>&1
	status=$?
	[ $status -ne 4 ] || sed -n 's/^# //p' /run/out > "$skip_mark"
	if [ -e "$skip_mark" ]; then
		echo "ok $number $name # SKIP $(cat "$skip_mark")"
	elif [ $status -eq 0 ]; then
		grep '^# ' /run/out
		echo "ok $number $name"
	else
		sed 's/^[^#]/# &/' /run/out
		echo "not ok $number $name"
		failed=1
	fi
}

if [ "${1-}" = ynl_inside ]; then
	ynl_inside
	exit
fi
sleep 0.01
mkdir -p /run/cg
load || exit 1
echo "KTAP version 1"
for name in ${*:-$(ctl) ynl_client module_unload}; do
	case $name in
	# no tests; needs what the lab's kernel lacks: selftests/machine/stock
	hold | look | encrypted) ;;
	ynl_client | module_unload) report "$name" ;;
	*) report ctl "$name" ;;
	esac
done
unload || exit 1
echo "1..$number"
exit $failed
