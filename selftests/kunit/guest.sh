#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: loads kunit.ko ($1) and the test modules, prints their results.
kunit=$1
shift

PATH=$PATH:/sbin:/usr/sbin
insmod "$kunit" enable=1 || exit 1
for module in "$@"; do
	insmod "$module" || exit 1
done
failed=0
number=0
set -- /sys/kernel/debug/kunit/*/results
echo "KTAP version 1"
echo "1..$#"
for results in "$@"; do
	number=$((number + 1))
	suite=$(basename "$(dirname "$results")")
	grep -E '^ +(KTAP|1\.\.|ok|not ok|#)' "$results"
	if grep -q 'not ok' "$results"; then
		echo "not ok $number $suite"
		failed=1
	else
		echo "ok $number $suite"
	fi
done
exit $failed
