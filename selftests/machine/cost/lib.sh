# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC1091,SC2034 # for those who source it
#
# A machine that counts instructions, for the "machine" scripts of selftests/machine/cost,
# control-cost, cc-cost and unused, which source this: Debian's stock kernel 6.12 in QEMU
# with -icount shift=0. The machine's clock, and with it the time stamp counter,
# goes on by 1 ns for each instruction; interrupts come at fixed instructions. So
# a count does not depend on this computer or its load.
#
#	count_prepare NAME	modules for the kernel, an empty root file system.
#				Sets top, O, headers, release, work, root
#	count_program FILE AT	a program with its libraries
#	count_module NAME	a module of the stock kernel
#	count_ours NAME		one of ours, after those it needs
#	count_test_module DIR	builds the modules of a folder, adds them
#	count_run MIB [QEMU...]	boots with $root/init as PID 1, prints its answer
#
# init loads what /modules/order lists, writes its answer to /dev/ttyS1 and "done"
# as the last line. Exit status of a machine: 0 passed, 1 failed, 4 no kernel or no
# QEMU here.
set -uo pipefail
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
O=$(mkdir -p "${O:-$top/build}" && cd "${O:-$top/build}" && pwd) || exit 1
. "$top/tools/lab/machine/lib.sh"
count_cache=$stock_cache
PATH=$PATH:/usr/sbin:/sbin
# A machine that hangs must not hang the tests.
count_limit_s=1800

skip()
{
	echo "$*"
	exit 4
}

die()
{
	echo "$*"
	exit 1
}

count_prepare()
{
	local tool

	headers=$("$top/scripts/headers" 6.12 2>&1) || skip "$headers"
	release=$(basename "$(dirname "$headers")")
	for tool in qemu-system-x86_64 cpio busybox; do
		command -v $tool > /dev/null || skip "no $tool: scripts/deps stock"
	done
	[ -d "$count_cache/$release" ] ||
		(cd "$top/selftests/machine/stock" && ./machine 6.12 check > /dev/null 2>&1)
	[ -d "$count_cache/$release" ] || skip "cannot get the image of $release"
	WERROR=1 "$top/scripts/modules" "$headers" > /dev/null 2>&1 || die "the modules do not build for $release"
	work=$O/selftests/$1
	root=$work/root
	rm -rf "$root" "$work"/{console,answer,qemu.log,tcg.log}
	mkdir -p "$root"/{bin,sbin,dev,proc,sys,run,modules}
	count_program "$(command -v busybox)" /bin/busybox
}

count_program()
{
	local file

	install -D "$1" "$root$2"
	ldd "$1" 2> /dev/null | grep -o '/[^ ]*' | while IFS= read -r file; do
		[ -e "$root$file" ] || install -D "$file" "$root$file"
	done
}

count_module()
{
	local path

	path=$(find "$count_cache/$release/lib/modules" -name "$1.ko*" | head -n 1)
	case $path in
	*.xz)	xz -dc "$path" > "$root/modules/$1.ko" ;;
	*.ko)	cp "$path" "$root/modules/$1.ko" ;;
	*)
		grep -q "/$1.ko" "$count_cache/$release/lib/modules/$release/modules.builtin" ||
			die "no module $1 in $release"
		return
		;;
	esac
	echo "$1.ko" >> "$root/modules/order"
}

count_ours()
{
	local ko=$O/mod/$release/$1.ko need

	[ -f "$ko" ] || die "no module $1"
	[ ! -e "$root/modules/$1.ko" ] || return 0
	for need in $(modinfo -F depends "$ko" | tr ',' ' '); do
		# The others are the kernel's own.
		[ ! -f "$O/mod/$release/$need.ko" ] || count_ours "$need"
	done
	cp "$ko" "$root/modules/"
	echo "$1.ko" >> "$root/modules/order"
}

count_test_module()
{
	local ko

	rm -rf "$work/module"
	mkdir -p "$work/module"
	cp "$1"/* "$work/module/"
	make -C "$headers" "M=$work/module" W=1 \
		KCFLAGS="-Werror -I$top/kmod/include/uapi" modules > "$work/module.log" 2>&1 ||
		die "the test module does not build: $work/module.log"
	for ko in "$work"/module/*.ko; do
		cp "$ko" "$root/modules/"
		basename "$ko" >> "$root/modules/order"
	done
}

# One processor, no clock but the counter, no addresses at random.
count_boot()
{
	local mib=$1

	shift
	timeout -k 10 $count_limit_s qemu-system-x86_64 -accel tcg -cpu "$machine_cpu" \
		-icount shift=0,sleep=off -seed 1 -rtc base=2026-01-01,clock=vm -smp 1 -m "$mib" \
		-nodefaults -no-reboot -display none \
		-serial "file:$work/console" -serial "file:$work/answer" "$@" \
		-kernel "$count_cache/$release/boot/vmlinuz-$release" -initrd "$work/initramfs" \
		-append "console=ttyS0 panic=-1 no_timer_check random.trust_cpu=on nokaslr norandmaps nowatchdog tsc=reliable clocksource=tsc ${APPEND:-}" \
		> "$work/qemu.log" 2>&1
}

count_run()
{
	local mib=$1 status

	shift
	chmod +x "$root/init"
	# The same archive gives the same run: fixed order and times.
	find "$root" -exec touch -h -d @0 {} +
	(cd "$root" && find . | sort | cpio -o -H newc --quiet --reproducible -R 0:0) > "$work/initramfs" ||
		die "cpio failed"
	machine_boot "$work/console" count_boot "$mib" "$@"
	status=$?
	tr -d '\r' < "$work/answer" | grep -v '^done$' || die "no answer: $work/console"
	! machine_faults "$work/console" || die "the kernel complained: $work/console"
	[ $status -eq 0 ] && tr -d '\r' < "$work/answer" | grep -q '^done$'
}
