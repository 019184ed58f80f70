# SPDX-License-Identifier: GPL-2.0
# Completion of "tc qdisc|class ... fabric ..." for bash. Installed beside tc's
# own, which it asks for everything else.

# Words that may come after the word before the cursor.
_tc_fabric_words()
{
	local object=$1 previous=$2

	case $previous in
	preset) echo flexpass flexpass-paper expresspass dctcp soze prio8 ;;
	frames) echo none tell hear both ;;
	role) echo none wan lan ;;
	flow-form) echo filter damped printed ;;
	queue) echo fifo isolate pfc hash ;;
	switch|switch-port|hop-rtt) ;;
	stamp) echo none soze tcp-int load power ;;
	ecn) echo off ;;
	rate) echo none ;;
	default) echo last ;;
	dscp|priomap|buffer) echo off ;;
	limit|delay|overhead|mpu|bands|stamp-tau|stamp-round|stamp-hold|host-rate|flow-delay|flow-theta|flow-weight|band|weight|quantum|packets|speed|mtu|segs) ;;
	burst|each|green|yellow|red|reserved|alpha|prob|ecn-delay) ;;
	*)
		if [ "$object" = class ]; then
			echo strict weight quantum queue limit packets rate burst each ecn \
				ecn-delay prob enqueue dequeue drop pass green \
				yellow red reserved alpha help
		else
			echo preset speed mtu segs limit ecn enqueue dequeue split-gso \
				no-split-gso rate delay overhead mpu bands default \
				priomap dscp buffer stamp stamp-tau stamp-round \
				stamp-hold role host-rate flow-delay flow-theta flow-form flow-weight switch switch-port hop-rtt frames band help
		fi ;;
	esac
}

_tc_fabric()
{
	local i object='' fabric=0

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		qdisc|class) [ -n "$object" ] || object=${COMP_WORDS[i]} ;;
		fabric) fabric=1 ;;
		esac
	done
	if [ $fabric -eq 0 ]; then
		if declare -F _tc > /dev/null; then
			_tc "$@"
		fi
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W \
		"$(_tc_fabric_words "$object" "${COMP_WORDS[COMP_CWORD - 1]}")" \
		-- "${COMP_WORDS[COMP_CWORD]}")
}

# tc's own completion is loaded on demand: load it first, it is asked above.
if ! declare -F _tc > /dev/null &&
   [ -r /usr/share/bash-completion/completions/tc ]; then
	# shellcheck source=/dev/null
	. /usr/share/bash-completion/completions/tc
fi
complete -F _tc_fabric tc
