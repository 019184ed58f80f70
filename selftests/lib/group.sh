# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # those who source this use them
#
# How a group's "run" begins, which sources this file: changes to the group's folder and sets
#
#	top	the project's folder
#	O	the build folder, made if need be
#	LAB	the lab's runner
#	kernel	flavour of the guest's kernel: LAB_KERNEL or uml; uml-debug is the same
#		under KASAN, lockdep and kmemleak
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")" || exit 1
top=${PWD%/selftests/*}
O=${O:-$top/build}
O=$(mkdir -p "$O" && cd "$O" && pwd) || exit 1
LAB=${LAB:-$O/bin/lab}
kernel=${LAB_KERNEL:-uml}
export O LAB
number=0
failed=0

# Skips the whole group: $* says why.
skip_group()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# The group needs the lab and, of the build folder, the programs $*.
needs()
{
	local program

	for program in "$LAB" "${@/#/$O/bin/}"; do
		[ -x "$program" ] || skip_group "no $program: make lab tools"
	done
}

# Builds the tests' programs, and what the folders $* below the project's build.
helpers()
{
	local folder log

	for folder in selftests/lib "$@"; do
		log=$(flock "$O/helpers.lock" make -s -C "$top/$folder" O="$O" 2>&1) && continue
		printf '%s\n' "$log" | sed 's/^/# /'
		printf '1..1\nnot ok 1 %s does not build\n' "$folder"
		exit 1
	done
}

# Prints the folder of python3 itself, with a colon, if there is another program in its place: the
# shell scripts of pyenv take two seconds in the guest at each start, python3 takes .2.
real_python()
{
	local program

	program=$(python3 -c 'import sys; print(sys.executable)' 2> /dev/null) || return 0
	[ "$program" = "$(command -v python3)" ] || printf '%s:' "${program%/*}"
}

# in_guest OPTIONS -- COMMAND...: the command in the lab's guest, with what guest.sh and
# the tests need; OPTIONS are those of "lab exec". LAB_LEAK_CHECK=1: looks for leaks.
in_guest()
{
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$LAB" exec --kernel "$kernel" ${LAB_LEAK_CHECK:+--leak-check} "${options[@]}" -- \
		env LIB="$top/selftests/lib/guest.sh" PATH="$O/bin:$O/selftests/bin:$(real_python)$PATH" \
		PYTHONPATH="$top/selftests/lib" PYTHONDONTWRITEBYTECODE=1 \
		TC_LIB_DIR="$O/tc" MODULES="$O/mod/$kernel" "$@"
}

# Prints the KTAP line of the test $2; $1: its exit status (4: skipped, $3 says why).
report()
{
	number=$((number + 1))
	case $1 in
	0) echo "ok $number $2" ;;
	4) echo "ok $number $2 # SKIP ${3:-it said so}" ;;
	*) echo "not ok $number $2"; failed=1 ;;
	esac
}

# Ends a test that "check" runs and that cannot run here: $* says why. The exit status alone
# says nothing: jq's is 4 where there is no output.
skip_test()
{
	echo "SKIP $*"
	return 4
}

# verdict NAME OUTPUT: prints the KTAP line of the test that has just ended; its exit
# status is that of the command before.
verdict()
{
	local status=$? last=${2##*$'\n'}

	if [ $status -eq 4 ] && [[ $last == 'SKIP '* ]]; then
		report 4 "$1" "${last#SKIP }"
		return
	fi
	[ $status -eq 0 ] || printf '%s\n' "$2" | tail -n 20 | sed 's/^/# /'
	report $((status > 0)) "$1"
}

# check NAME COMMAND...: a test that passes with exit status 0.
check()
{
	local output name=$1

	shift
	output=$("$@" 2>&1)
	verdict "$name" "$output"
}

# try NAME COMMAND...: a test that passes if it prints nothing: what it prints is wrong.
try()
{
	local output name=$1

	shift
	output=$("$@" 2>&1)
	[ -z "$output" ]
	verdict "$name" "$output"
}
