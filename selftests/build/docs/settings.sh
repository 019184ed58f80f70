#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC1090 # $LIB is guest.sh
#
# In the lab's guest: are the settings of the page as file $1 has them ("FILE MODULE
# LEAST MOST DEFAULT") those that the modules $2... bring? A module's are the files
# that come with it. Prints what is wrong.
. "$LIB"
page=$1
shift
dir=/proc/sys/net/fairlane
wrong=0

complain()
{
	echo "$*"
	wrong=1
}

files() { [ ! -d $dir ] || (cd $dir && find . -type f | sed 's/^\.\///' | sort); }

# Loads module $1 after what it needs, each by itself, and notes whose each new file is.
bring()
{
	! grep -q "^$1 " /proc/modules || return 0
	for need in $(/sbin/modinfo -F depends "$MODULES/$1.ko" | tr ',' ' '); do
		[ ! -e "$MODULES/$need.ko" ] || (bring "$need") || return 1
	done
	files > /run/before
	load_modules "$1" || return 1
	files | comm -13 /run/before - | sed "s/\$/ $1/" >> /run/brought
}

# takes FILE VALUE: is that a value of the setting?
takes() { echo "$2" > "$dir/$1"; } 2> /dev/null

for module in "$@"; do
	bring "$module" || complain "$module is not loaded"
done
while read -r file module; do
	grep -q "^$file " "$page" || complain "the page lacks $file of $module"
done < /run/brought
while read -r file module least most initial; do
	if ! grep -qx "$file $module" /run/brought; then
		complain "$module does not bring $file"
		continue
	fi
	[ "$(cat "$dir/$file")" = "$initial" ] || complain "$file is $(cat "$dir/$file") at first, not $initial"
	for value in "$least" "$most"; do
		takes "$file" "$value" || complain "$file does not take $value"
	done
	for value in $((least - 1)) $((most + 1)); do
		! takes "$file" "$value" || complain "$file takes $value"
	done
	takes "$file" "$initial"
done < "$page"
exit $wrong
