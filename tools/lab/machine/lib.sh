# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # those who source this use what it sets
#
# Debian's stock kernels for QEMU: what "lab run --kernel debian-6.12" and
# selftests/machine/stock share. Set before: top, the project's folder.
#
#	machine_kernel SERIES	sets headers, release, sources and perhaps CC for the newest
#				kernel of a series (6.1, 6.12), or of all (newest), or fails and
#				says why in machine_why
#	machine_image		has the image of $release in $stock_cache/$release, unpacked
#	machine_faults CONSOLE	prints what in a kernel's log no healthy run leaves; fails without
#	machine_boot CONSOLE COMMAND...	a boot, by a function that starts QEMU by timeout. If the
#				kernel complains before it starts our first program, when
#				nothing of ours is there, timeout is ended, a line says so, and
#				it is booted once more. What comes later, or again, stays in
#				the log
#	$machine_cpu		the processor for QEMU's -cpu
#	machine_program FILE ROOT [AT]	copies a program and the libraries it needs into a
#				root file system, to the same place or AT
stock_cache=${XDG_CACHE_HOME:-$HOME/.cache}/fairlane/stock
# before apt-get, where its sources are others
sources=()
# QEMU 7.2's cmpxchg16b leaves a part of an address in the flags, where it means to leave Z alone
# (it reads the flags of the block before, env->cc_op). If the processor's turn ends there, the
# flags keep VM, and the next interrupt ends in "Oops: double fault" in kmem_cache_alloc(), whose
# instruction this is: once in dozens of boots. A kernel whose processor has no cmpxchg16b does
# without.
machine_cpu=qemu64,+rdrand,-cx16

machine_kernel()
{
	if [ "$1" = newest ]; then
		headers=$("$top/scripts/newest-headers" 2>&1) || { machine_why=$headers; return 1; }
		release=${headers##*/linux-headers-}
		export CC="${headers%/*}/cc"
		sources=(env "APT_CONFIG=${stock_cache%/*}/headers/apt.conf")
	else
		headers=$("$top/scripts/headers" "$1" 2>&1) || { machine_why=$headers; return 1; }
		release=$(basename "$(dirname "$headers")")
	fi
}

# The image without Debian's signature, which QEMU does not look for: it is made with the headers
# and lies in the archive as soon as they do. The signed image follows days later.
# Later releases have the image in two packages, below /usr.
machine_fetch()
{
	local part=$stock_cache/$release.part tree deb packages=("linux-image-$release-unsigned")

	[ ${#sources[@]} -eq 0 ] || packages=("linux-binary-unsigned-$release" "linux-modules-$release")
	rm -rf "$part"
	mkdir -p "$part/deb" || return 1
	(cd "$part/deb" && "${sources[@]}" apt-get -q download "${packages[@]}") > "$part/log" 2>&1 || return 1
	for deb in "$part"/deb/*.deb; do
		dpkg-deb -x "$deb" "$part" || return 1
	done
	[ -e "$part/lib" ] || ln -s usr/lib "$part/lib"
	tree=$part/lib/modules/$release
	[ ! -e "$tree/vmlinuz.unsigned" ] || mv "$tree/vmlinuz.unsigned" "$tree/vmlinuz"
	depmod -b "$part" "$release" &&
	rm -rf "$part/deb" &&
	mv "$part" "$stock_cache/$release"
}

machine_image()
{
	mkdir -p "$stock_cache" || return 1
	[ -d "$stock_cache/$release" ] ||
		(flock 9; [ -d "$stock_cache/$release" ] || machine_fetch) 9> "$stock_cache/.lock"
}

machine_faults()
{
	tr -d '\r' < "$1" | grep -nE 'BUG:|WARNING:|Oops|UBSAN|KASAN|general protection|Call Trace|Kernel panic|refcount_t|unregister_netdevice: waiting|blocked for more than'
}

# Data races (KCSAN) are looked at elsewhere. Without the kernel's own word that it starts the
# program nothing is early.
machine_boot()
{
	local console=$1 start='Run /init as init process' early pid

	shift
	rm -f "$console"
	"$@" &
	pid=$!
	until grep -qs "$start" "$console"; do
		kill -0 $pid 2> /dev/null || break
		sleep 0.2
	done
	grep -qs "$start" "$console" &&
		early=$(sed "\\|$start|,\$d" "$console" | machine_faults /dev/stdin | grep -v 'BUG: KCSAN' | head -n 1)
	if [ -z "${early:-}" ]; then
		wait $pid
		return
	fi
	pkill -P $pid -x timeout
	wait $pid
	echo "# the kernel complained before our first program, booted once more: ${early#*:}"
	rm -f "$console"
	"$@"
}

machine_program()
{
	local file

	install -D "$1" "$2${3:-$1}" || return 1
	# "libx.so => /lib/libx.so (0x…)", and the loader: "/lib64/ld… (0x…)"
	# fails for static programs
	ldd "$1" 2> /dev/null | grep -o '/[^ ]*' | while IFS= read -r file; do
		[ -e "$2$file" ] || install -D "$file" "$2$file"
	done
	return 0
}
