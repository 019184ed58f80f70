#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2048 # names of tests are words
#
# The control plane in the lab's guest: every test of ctl in a namespace of its
# own, then what needs modules to come and go. Names of tests as arguments
# select. Needs root; in PATH: ctl, ip, tc. $MODULES is the folder of the modules.
set -u
: "${MODULES:?folder of the modules}"
number=0
failed=0

load()
{
	for m in fairlane tcp_swift tcp_prioplus; do
		insmod "$MODULES/$m.ko" || return 1
	done
}

unload()
{
	# Sockets end in the background.
	for m in tcp_prioplus tcp_swift fairlane; do
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
		rm -f /run/held
		ctl hold > /run/held &
		holder=$!
		until grep -q held /run/held; do
			kill -0 "$holder" || return 1
			sleep 0.01
		done
		unload || return 1
		[ $((round % 2)) -eq 0 ] || load || return 1
		kill -USR1 "$holder"
		wait "$holder" || { cat /run/held; return 1; }
		lsmod | grep -q '^fairlane' || load || return 1
	done
}

# Runs a test and prints its KTAP line.
report()
{
	number=$((number + 1))
	if "$@" > /run/out 2>&1; then
		grep '^# ' /run/out
		echo "ok $number $name"
	else
		sed 's/^[^#]/# &/' /run/out
		echo "not ok $number $name"
		failed=1
	fi
}

sleep 0.01
mkdir -p /run/cg
load || exit 1
echo "KTAP version 1"
for name in ${*:-$(ctl) module_unload}; do
	case $name in
	hold) ;;
	module_unload) report module_unload ;;
	*) report ctl "$name" ;;
	esac
done
unload || exit 1
echo "1..$number"
exit $failed
