# SPDX-License-Identifier: GPL-2.0
# Completion of "fairlane ..." for bash.

# Words of a flow filter, and of settings.
_fairlane_filter='src dst sport dport cookie prio cc uid pid cgroup state'
_fairlane_settings='prio weight base-rtt line-rate deadline'

# Words that may follow the word $1 as its value; fails if it has none.
_fairlane_values()
{
	case $1 in
	cc|--cc|from) cat /proc/sys/net/ipv4/tcp_available_congestion_control 2> /dev/null ;;
	-n|--netns|netns) ls /run/netns 2> /dev/null ;;
	state) echo connected all listening established syn-sent fin-wait-1 fin-wait-2 close-wait ;;
	when) echo connect accept ;;
	family) echo ipv4 ipv6 ;;
	sort) echo rate prio delay ;;
	by) echo size left ;;
	jobs) compgen -f ;;
	uid) compgen -u ;;
	clock) echo kernel user ;;
	prio|--prio) echo {0..15} default ;;
	*) return 1 ;;
	esac
}

# Words that may follow, for an object ($1) and its command ($2).
_fairlane_words()
{
	case $1:$2 in
	:)
		echo flow policy profile limits stats metrics monitor off on apply check report top save \
			restore run weight noise fabric -j -p -d -n -V -h ;;
	flow:) echo show set watch help ;;
	flow:set) echo "$_fairlane_filter" "$_fairlane_settings" fd from share all ;;
	flow:watch) echo "$_fairlane_filter" interval count ;;
	flow:*) echo "$_fairlane_filter" ;;
	policy:) echo add replace del show flush apply help ;;
	policy:add|policy:replace)
		echo order when family src dst sport dport uid cgroup cc dscp \
			"$_fairlane_settings" comment apply ;;
	policy:*) echo order ;;
	profile:) echo show set del help ;;
	profile:set)
		echo dst
		# these two belong to "fairlane off" and "on"
		find /proc/sys/net/fairlane -type f ! -name off ! -name share_permille -printf '%f\n' 2> /dev/null ;;
	profile:*) echo dst ;;
	limits:) echo show set help ;;
	limits:set) echo prio weight budget uid cgroup ;;
	noise:) echo measure respond help ;;
	noise:measure)
		echo self port count interval size clock percentile flows line-rate ai \
			target apply dst ;;
	noise:respond) echo port connections ;;
	fabric:) echo show load help ;;
	fabric:load) compgen -f ;;
	stats:*) echo help ;;
	monitor:*) echo flow refused policy profile limits count timeout help ;;
	top:*) echo "$_fairlane_filter" interval count sort help ;;
	off:*) echo all help ;;
	on:*) echo share all help ;;
	restore:*) echo --check ;;
	apply:*) echo --dry-run --undo help ;;
	weight:) echo shortest-first coflow altruistic help ;;
	weight:*)
		echo "$_fairlane_filter" jobs netns interval for once dry-run min max sum
		[ "$2" != shortest-first ] || echo by largest ;;
	run:*)
		echo --prio --weight --base-rtt --line-rate --deadline --cc --quiet \
			--debug -- ;;
	esac
}

_fairlane()
{
	local i word object='' command='' previous=${COMP_WORDS[COMP_CWORD - 1]}
	local current=${COMP_WORDS[COMP_CWORD]}

	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--)
			# The command that is to be run has its own completion.
			if [ "$object" = run ] && declare -F _command_offset > /dev/null; then
				_command_offset $((i + 1))
				return
			fi ;;
		-n|--netns) i=$((i + 1)) ;;
		-*) ;;
		*)
			if [ -z "$object" ]; then
				object=$word
			elif [ -z "$command" ]; then
				command=$word
			fi ;;
		esac
	done
	case $object in
	report|save|restore|metrics|apply|check)
		mapfile -t COMPREPLY < <(compgen -f -W "$(_fairlane_words "$object" "$command")" -- "$current")
		return ;;
	esac
	if ! word=$(_fairlane_values "$previous"); then
		word=$(_fairlane_words "$object" "$command")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$word" -- "$current")
}

complete -F _fairlane fairlane
