# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # sourced by tool.sh, whose functions these use
#
# The fabric by one file: fairlane apply, check with a file, units, recipes; a socket's
# control live; flows by class.

file=/run/fabric.yaml

# Makes a cgroup.
cgroup()
{
	mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
	mkdir -p "/sys/fs/cgroup/$1"
}

# A file with everything in it.
fabric_file()
{
	cgroup backup
	load_modules sch_fabric
	# undo knows no queue but ours
	for n in west east; do
		tc -n cr qdisc del dev $n root 2> /dev/null
	done
	cat > "${1:-$file}" << 'YAML'
control: prioplus
line_rate: 25gbit
base_rtt: 12us
noise: 2us
telemetry: 2
research: {fluct_ns: 4000}
paths:
  10.0.2.0/24: {base_rtt: 40us}
  fd00:2::/64: {base_rtt_ns: 41000, line_rate: 10gbit}
limits:
  prio: 5
  budget: 20
  uids: {root: 30}
  cgroups: {/backup: 7.5}
classes:
  backup:
    prio: 1
    weight: 2.50
    match:
      - {dport: 5201}
      - {dscp: 8}
      - {cgroup: /backup}
  web:
    prio: 4
    base_rtt: 20us
    match: {sport: 80-90, when: accept}
  rest: {prio: 2}
ports:
  lo: preset prio8 limit 2mb
  swp9: limit 8mb stamp load role wan
  west:
    netns: cr
    fabric: preset flexpass rate 1gbit delay 1us
  east: {netns: cr, fabric: limit 8mb stamp load role lan host-rate 1gbit}
YAML
}

# What "fairlane save" prints for it.
fabric_settings='limits set prio 5 weight 10 budget 20
limits set uid 0 budget 30
limits set cgroup /backup budget 7.5
profile set line_rate_mbps 25000 base_rtt_ns 12000 fluct_ns 4000 noise_ns 2000 telemetry 2
profile set dst fd00:2::/64 line_rate_mbps 10000 base_rtt_ns 41000
profile set dst 10.0.2.0/24 base_rtt_ns 40000
policy add order 10 dport 5201 prio 1 weight 2.5 comment backup
policy add order 20 dscp 8 prio 1 weight 2.5 comment backup
policy add order 30 cgroup /backup prio 1 weight 2.5 comment backup
policy add order 40 when accept sport 80-90 prio 4 base-rtt 20us comment web
policy add order 50 prio 2 comment rest'

# All that apply may change: of each namespace, and ports.
everything()
{
	local ns

	for ns in /proc/1/ns/net ca cr cb; do
		fairlane -n "$ns" save
		nsenter --net="${ns/#c/\/run\/netns\/c}" sysctl -n net.ipv4.tcp_congestion_control
	done
	tc qdisc show dev lo
	tc -n cr qdisc show dev west
	tc -n cr qdisc show dev east
}

undo() { fairlane apply --undo > /run/out 2>&1 || fault "undo: $(cat /run/out)"; }

test_apply()
{
	fabric_file
	everything > /run/before
	json apply apply --dry-run $file > /run/a
	expect "a dry run" "$(everything | cmp - /run/before 2>&1)" = ''
	# processes of the tests before may still be in theirs
	expect "to be changed" "$(jq -c '[.namespaces[].netns | select(startswith("pid") | not)] | sort' /run/a)" = '["ca","cb","cr","here"]'
	expect "of ports" "$(jq -c '[.ports[] | [.dev, .missing // false]]' /run/a)" = '[["lo",false],["swp9",true],["west",false],["east",false]]'
	fairlane apply --dry-run $file | grep -qx '  + policy add order 20 dscp 8 prio 1 weight 2.5 comment backup' || fault "text of a dry run"
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	for ns in /proc/1/ns/net ca cr cb; do
		expect "settings of $ns" "$(fairlane -n $ns save)" = "$fabric_settings"
	done
	expect "controls" "$(everything | grep -c '^prioplus$')" -eq 4
	tc qdisc show dev lo | grep -q 'fabric 1: root .*limit 2Mb' || fault "lo: $(tc qdisc show dev lo)"
	tc -n cr qdisc show dev west | grep -q 'rate 1Gbit delay 1us' || fault "west: $(tc -n cr qdisc show dev west)"
	tc -n cr qdisc show dev east | grep -q 'limit 8Mb .*stamp load role lan host-rate 1Gbit ' || fault "east: $(tc -n cr qdisc show dev east)"
	# Again: nothing is different, nothing is done, not even asked.
	everything > /run/after
	timeout 1 fairlane -n ca monitor policy profile limits > /run/events &
	sleep 0.1
	expect "apply again" "$(json apply apply $file | jq -c '[.namespaces, .ports[].dev]')" = '[[],"swp9"]'
	wait $!
	expect "events of the second time" "$(wc -l < /run/events)" -eq 0
	expect "after the second time" "$(everything | cmp - /run/after 2>&1)" = ''
	# One key: one line.
	sed -i 's/prio: 4/prio: 3/; s/limit 2mb//' $file
	json apply -n ca apply --dry-run $file > /run/a
	expect "one key" "$(jq -r '.namespaces[] | .netns, .remove[], .add[]' /run/a | tr '\n' ';')" = \
		"here;policy add order 40 when accept sport 80-90 prio 4 base-rtt 20us comment web;policy add order 40 when accept sport 80-90 prio 3 base-rtt 20us comment web;"
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	expect "the changed one" "$(fl policy show order 40 | cut -d' ' -f1-7)" = 'order 40 when accept sport 80-90 prio'
	# An option that the file does not have any more is the default again.
	tc qdisc show dev lo | grep -q 'limit 4Mb' || fault "lo: $(tc qdisc show dev lo)"
	# Another role, and none: the queue is made anew.
	for to in 'limit 8mb stamp load role wan' 'limit 16mb'; do
		sed -i "s/fabric: limit .*}/fabric: $to}/" $file
		fairlane apply $file > /run/out 2>&1 || fault "apply of $to: $(cat /run/out)"
		expect "ports that are changed" "$(grep -c ': changed' /run/out)" -eq 1
		expect "east" "$(tc -n cr qdisc show dev east | sed 's/.*refcnt [0-9]* //; s/ *$//')" = "${to/mb/Mb split-gso}"
	done
	# A port that cannot be put back is told, and undo can be tried again. One who may not read what
	# was there before is told as well.
	PATH=/run/fl/bin fairlane apply --undo > /run/out 2>&1
	expect "exit status of undo without tc" $? -eq 2
	grep -q 'apply --undo: [0-9]* namespaces or ports are not as they were; it can be tried again' /run/out ||
		fault "undo without tc: $(cat /run/out)"
	chmod 600 /run/fairlane/before-*
	setpriv --reuid=65534 --regid=65534 --clear-groups fairlane apply --undo > /run/out 2>&1
	expect "exit status of undo without rights" $? -eq 2
	undo
	expect "after undo" "$(everything | diff - /run/before)" = ''
	expect "undo again" "$(fairlane apply --undo)" = 'nothing was applied'
}

# bad TEXT WHAT-IT-SAYS [STATUS]: a file with a mistake changes nothing.
bad()
{
	printf '%b' "$1" > /run/bad.yaml
	fairlane apply /run/bad.yaml > /run/out 2>&1
	expect "exit status of $1" $? -eq "${3:-1}"
	grep -qF "Error: $2" /run/out || fault "$1: says $(cat /run/out), not: $2"
}

test_apply_refusals()
{
	fabric_file
	everything > /run/before
	bad 'controls: prioplus\n' 'bad.yaml:1: controls: no loaded module has a setting "controls"'
	grep -q 'another module); other keys are control, namespaces, paths,' /run/out || fault "no keys: $(cat /run/out)"
	bad 'control: [prioplus]\n' 'bad.yaml:1: control: control: a single value is wanted'
	bad 'line_rate: 25 gbit\n' 'bad.yaml:1: line_rate: line_rate 25 gbit: a value with its unit is wanted, such as 25gbit'
	bad 'classes: {a: {prio: 3, match: {dport: "80\\0-90"}}}\n' 'bad.yaml:1: classes.a.match.dport: dport: it has a NUL byte'
	bad 'classes:\n' 'bad.yaml:1: classes: classes: a mapping is wanted (key: value; an empty one is {})'
	bad 'ports: {"": limit 1mb}\n' 'bad.yaml:1: ports.: "" is no name of a device'
	bad 'ports: {swp 1: limit 1mb}\n' 'bad.yaml:1: ports.swp 1: "swp 1" is no name of a device'
	bad 'ports: {swp1swp2swp3swp4: limit 1mb}\n' 'bad.yaml:1: ports.swp1swp2swp3swp4: "swp1swp2swp3swp4" is no name of a device'
	bad 'noise: 2us\ncontrol: nonsense\n' 'bad.yaml:2: control: nonsense: there is no such'
	bad 'control: ""\n' 'bad.yaml:1: control: control: the name of a congestion control is wanted'
	bad 'control:\n' 'bad.yaml:1: control: control: the name of a congestion control is wanted'
	bad 'classes: {a: {prio: 3, match: {cc: ""}}}\n' 'bad.yaml:1: classes.a.match.cc: "cc" needs a value'
	bad 'classes: {a: {prio: 3, match: {cgroup: }}}\n' 'bad.yaml:1: classes.a.match.cgroup: "cgroup" needs a value'
	bad 'limits: {cgroups: {"": 3}}\n' 'bad.yaml:1: limits.cgroups.: "cgroup" needs a value'
	bad 'ports: {lo: {netns: "", fabric: bands 2}}\n' 'bad.yaml:1: ports.lo.netns: netns: a name is wanted'
	bad '\n\nnoise: 3\n' 'bad.yaml:3: noise: noise 3: a value with its unit'
	bad 'noise: 0us\n' 'bad.yaml:1: noise: noise 0us: the range is'
	bad 'noise: 3us\nnoise: 4us\n' 'bad.yaml:2: key "noise" stands twice'
	bad 'noise: 3us\nnoise_ns: 4000\n' 'bad.yaml:2: noise_ns: it stands twice, the other one is bad.yaml:1: noise'
	bad 'noise: 3us\nresearch: {noise: 4us}\n' 'bad.yaml:2: research.noise: it stands twice, the other one is bad.yaml:1: noise'
	bad 'paths:\n  10.2.0.1: {noise: 3us}\n  10.2.0.1/32: {base_rtt: 9us}\n' 'bad.yaml:3: paths.10.2.0.1/32: it stands twice, the other one is bad.yaml:2: paths.10.2.0.1'
	bad 'paths: {10.2.0.1: {noise: 3us, noise_ns: 4000}}\n' 'bad.yaml:1: paths.10.2.0.1.noise_ns: it stands twice'
	bad 'limits: {uids: {root: 3, 0: 4}}\n' 'bad.yaml:1: limits.uids.0: it stands twice, the other one is bad.yaml:1: limits.uids.root'
	bad 'limits: {cgroups: {/backup: 3, /sys/fs/cgroup/backup/: 4}}\n' 'bad.yaml:1: limits.cgroups./sys/fs/cgroup/backup/: it stands twice'
	bad 'classes: {a: {prio: 3, base_rtt: 3us, base-rtt: 4us}}\n' 'bad.yaml:1: classes.a: "base-rtt" twice'
	bad 'classes:\n  a: {prio: 3, match: []}\n' 'bad.yaml:2: classes.a.match: match: the list is empty'
	bad 'noise: [3us\n' 'bad.yaml:2: no valid YAML'
	bad 'class: {a: 1}\n' 'bad.yaml:1: class: "class" is not paths, limits, classes, ports or research'
	bad 'namespaces: some\n' 'bad.yaml:1: namespaces: namespaces some: all or one'
	bad 'classes:\n  a:\n    prio: 16\n' 'bad.yaml:3: classes.a.prio: prio 16: an integer from 0'
	bad 'classes:\n  a: {pri: 1}\n' 'bad.yaml:2: classes.a.pri: "pri" is not known here'
	bad 'classes:\n  a:\n    match: {dport: 1}\n' 'bad.yaml:3: classes.a: class a sets nothing'
	bad 'classes:\n  a:\n    prio: 1\n    match:\n      - {dport: 1}\n      - {dprt: 2}\n' 'bad.yaml:6: classes.a.match.dprt: "dprt" is not known here'
	bad 'classes:\n  a:\n    prio: 1\n    match:\n      - {dport: 1}\n      - {dscp: 64}\n' 'bad.yaml:6: classes.a.match.dscp: dscp 64: an integer'
	bad 'classes: {a: {prio: 3, match: {cgroup: /nonono}}}\n' 'bad.yaml:1: classes.a.match.cgroup: policy add: no such path' 2
	bad 'paths: {10.0.0.1/8: {base_rtt: 3us}}\n' 'bad.yaml:1: paths.10.0.0.1/8.base_rtt: dst 10.0.0.1/8: an address'
	bad 'paths: [1]\n' 'bad.yaml:1: paths: paths: a mapping is wanted'
	bad 'limits: {uids: {nobodyatall: 3}}\n' 'bad.yaml:1: limits.uids.nobodyatall: uid nobodyatall: no such user'
	bad 'limits: {uids: {root: none}}\n' 'bad.yaml:1: limits.uids.root: who has no budget of its own is left out'
	bad 'classes: {" ": {prio: 3}}\n' 'bad.yaml:1: classes. : a class needs a name'
	bad 'limits: {pri: 3}\n' 'bad.yaml:1: limits.pri: "pri" is not known here'
	bad 'ports: {lo: "bands 99"}\n' 'bad.yaml:1: ports.lo: bands must be 1 to 16'
	# no word that the file does not have
	bad 'ports: {swp9: limit 2mb ecn}\n' 'bad.yaml:1: ports.swp9: fabric: "ecn" needs a value'
	bad 'ports: {lo: "bands 2 dscp 8:1 dscp 10:2"}\n' 'bad.yaml:1: ports.lo: fabric: "dscp" stands twice'
	bad 'ports: {lo: stamp load role wan}\n' 'bad.yaml:1: ports.lo: a load is of a whole line: say rate RATE where the device tells no speed'
	bad 'ports: {swp9: stamp load role wan flow-delay 1ms}\n' 'bad.yaml:1: ports.swp9: host-rate and flow-... are of a port of role lan'
	bad 'ports: {lo: {fabri: x}}\n' 'bad.yaml:1: ports.lo.fabri: "fabri" is not known here'
	bad 'ports: {lo: {netns: nonono, fabric: bands 99}}\n' 'bad.yaml:1: ports.lo: bands must be 1 to 16'
	bad 'ports: {lo: {netns: /etc/passwd/x, fabric: bands 2}}\n' 'bad.yaml:1: ports.lo: network namespace "/etc/passwd/x": Not a directory' 2
	# a preset does not ask the device, whether there is one or not
	bad 'ports: {swp9: preset flexpass}\n' "bad.yaml:1: ports.swp9: fabric: preset flexpass needs the device's speed, or a rate"
	ip link add swp9 type veth peer name swp9b || fault "no veth"
	for words in flexpass 'flexpass mtu 9000' 'expresspass band 2 weight 3'; do
		bad "ports: {swp9: preset $words}\n" "bad.yaml:1: ports.swp9: fabric: preset ${words%% *} needs the device's speed, or a rate"
	done
	ip link del swp9
	bad '' '/run/bad.yaml is empty'
	bad 'noise: 2us\n---\nnoise: 3us\n' 'bad.yaml:2: a second document begins'
	bad 'noise: 2us\n...\n}\n' 'bad.yaml:3: no valid YAML'
	bad 'noise: 2us\n\0\nnonsense: 3\n' '/run/bad.yaml: it has a NUL byte'
	printf -- '---\njobs: {a: {flows: [{dport: 1}]}}\n---\njobs: {}\n' > /run/jobs.yaml
	refused 1 'jobs.yaml:3: a second document begins' weight coflow jobs /run/jobs.yaml once
	refused 1 '/run/nothing: No such file' apply /run/nothing
	refused 1 'nothing else goes with it' apply --undo $file
	ip netns exec ca setpriv --reuid=65534 --regid=65534 --clear-groups fairlane apply $file > /run/out 2>&1
	expect "exit status without root" $? -eq 2
	grep -q 'needs root' /run/out || fault "without root: $(cat /run/out)"
	expect "after all these" "$(everything | diff - /run/before)" = ''
}

# A control that is not loaded yet, as at boot, and settings that come with it, said before it.
test_apply_loads_control()
{
	local loader

	loader=$(cat /proc/sys/kernel/modprobe)
	rmmod tcp_soze 2> /dev/null
	{
		echo '#!/bin/sh'
		echo "case \"\$*\" in *tcp_soze*) exec /sbin/insmod $MODULES/tcp_soze.ko ;; esac"
	} > /run/modprobe
	chmod 755 /run/modprobe
	echo /run/modprobe > /proc/sys/kernel/modprobe
	printf 'soze_alpha: 1gbit\n' > $file
	fairlane apply $file > /run/out 2>&1
	expect "exit status without its module" $? -eq 1
	grep -q 'modprobe brings those of another module' /run/out || fault "says $(cat /run/out)"
	echo 'control: soze' >> $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	expect "alpha" "$(fl save | grep soze)" = 'profile set soze_alpha_mbps 1000'
	expect "control" "$(in_ns cb sysctl -n net.ipv4.tcp_congestion_control)" = soze
	undo
	echo "$loader" > /proc/sys/kernel/modprobe
	rmmod tcp_soze || fault "tcp_soze stays"
}

# A port that tc refuses when all was tried: it is told, what was there before is there again, and
# the others are changed.
test_apply_port_fails()
{
	load_modules sch_fabric
	ip link add swp9 type veth peer name swp9b || fault "no veth"
	printf 'ports:\n  swp9: limit 2mb\n  lo: bands 2\n' > $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	tc qdisc show dev swp9 > /run/before
	mkdir -p /run/refusing
	{
		echo '#!/bin/sh'
		echo 'case "$*" in *"replace dev swp9 "*"limit 3mb"*) echo "Error: not today"; exit 2 ;; esac'
		echo "exec $(command -v tc) \"\$@\""
	} > /run/refusing/tc
	chmod 755 /run/refusing/tc
	sed -i 's/limit 2mb/limit 3mb/; s/bands 2/bands 3/' $file
	PATH=/run/refusing:$PATH fairlane apply $file > /run/out 2> /run/err
	expect "exit status" $? -eq 2
	expect "told" "$(cat /run/out)" = "$(printf 'port swp9: failed\nport lo: changed')"
	grep -qx 'Error: fabric.yaml:2: ports.swp9: Error: not today' /run/err || fault "says $(cat /run/err)"
	expect "the queue before" "$(tc qdisc show dev swp9 | diff - /run/before)" = ''
	tc qdisc show dev lo | grep -q 'fabric .*bands 3' || fault "lo: $(tc qdisc show dev lo)"
	PATH=/run/refusing:$PATH fairlane -j apply $file > /run/a 2> /run/err
	expect "in JSON" "$(jq -c '[.ports[] | [.dev, .failed]]' /run/a)" = '[["swp9",true]]'
	sed 's/^/#json apply /' /run/a >&9
	# another queue than ours
	tc qdisc replace dev swp9 root handle 5: pfifo limit 77
	PATH=/run/refusing:$PATH fairlane apply $file > /run/out 2> /run/err
	tc qdisc show dev swp9 | grep -q 'pfifo 5: root .*limit 77p' || fault "swp9: $(tc qdisc show dev swp9)"
	undo
	ip link del swp9
}

# Where nobody can go is told, and the others are changed. A name in /run/netns whose namespace
# has gone is none.
test_apply_one_cannot_be_seen()
{
	load_modules sch_fabric
	: > /run/netns/cgone
	printf 'noise: 9us\nports:\n  lo: {netns: /proc/self/ns/uts, fabric: bands 2}\n' > $file
	fairlane apply $file > /run/out 2> /run/err
	expect "exit status" $? -eq 2
	grep -q '"/proc/self/ns/uts": Invalid argument' /run/err || fault "says $(cat /run/err)"
	expect "what it said of here" "$(grep here /run/out)" = 'namespace here: changed'
	expect "what is here" "$(fairlane -n /proc/1/ns/net save | grep noise)" = 'profile set noise_ns 9000'
	sed -i 2,3d $file
	expect "where nothing can be written" "$(unshare --mount sh -c "mount -t tmpfs -o ro none /tmp && fairlane apply --dry-run $file" 2>&1)" = "everything is as $file says"
	expect "without it" "$(fairlane apply $file 2>&1)" = "everything is as $file says"
	fairlane off all > /run/out 2>&1 || fault "off all: $(cat /run/out)"
	fairlane on all > /run/out 2>&1 || fault "on all: $(cat /run/out)"
	undo
	rm /run/netns/cgone
}

# A new namespace has it all before it has a device; it goes its own way then.
test_apply_new_namespace()
{
	local pid

	fabric_file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	ip netns add cnew
	expect "settings" "$(fairlane -n cnew save)" = "$fabric_settings"
	expect "control" "$(in_ns cnew sysctl -n net.ipv4.tcp_congestion_control)" = prioplus
	expect "hooks of telemetry 2" "$(in_ns cnew grep -c 'hooked 1' /proc/net/fairlane_telemetry)" -eq 1
	expect "hits" "$(fairlane -n cnew -j policy show | jq -c 'map(.hits) | unique')" = '[0]'
	ip -n cnew link set lo up
	ip netns exec cnew iperf3 -s -p 5201 > /dev/null 2>&1 &
	pids+=($!)
	sleep 0.1
	ip netns exec cnew bash -c 'exec 5<> /dev/tcp/127.0.0.1/5201; exec sleep 1000' &
	pids+=($!)
	sleep 0.1
	# the first connection ever made there
	expect "the first flow" "$(fairlane -n cnew -j flow show dport 5201 | jq -c '.[0] | [.cc, .prio, .weight]')" = '["prioplus",1,2.5]'
	fairlane -n cnew policy flush
	expect "policies of others" "$(fl policy show | wc -l)" -eq 5
	# uids are others in another user namespace: policies that name some stay behind
	fairlane policy add order 60 uid 0 prio 7
	expect "with other uids" "$(unshare --user --map-root-user --net fairlane policy show | grep -c 'order')" -eq 5
	expect "with the same uids" "$(unshare --net fairlane policy show | grep -c 'order')" -eq 6
	# so do their budgets: nobody there could take them back
	expect "budgets with the same uids" "$(unshare --net fairlane save | grep '^limits set uid')" = 'limits set uid 0 budget 30'
	expect "budgets with other uids" "$(unshare --user --net fairlane save | grep '^limits set uid')" = ''
	unshare --user --net sleep 1000 &
	pid=$!
	pids+=("$pid")
	sleep 0.1
	echo '0 100000 65536' > "/proc/$pid/uid_map"
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	expect "uids of that namespace" "$(nsenter --net --target "$pid" fairlane save)" = "$fabric_settings"
	# one that has root alone: budgets of others mean nothing there, the rest is done
	unshare --user --map-root-user --net sleep 1000 &
	pid=$!
	pids+=("$pid")
	sleep 0.1
	sed -i 's/uids: {root: 30}/uids: {root: 30, 33: 20}/' $file
	fairlane apply $file > /run/out 2>&1 || fault "apply where there is no uid 33: $(cat /run/out)"
	expect "without uid 33" "$(nsenter --net --target "$pid" fairlane save)" = "$fabric_settings"
	expect "with uid 33" "$(fl save | grep -c '^limits set uid')" -eq 2
	expect "apply again" "$(fairlane apply $file 2>&1 | grep -v swp9)" = ''
	undo
	kill "${pids[@]}" 2> /dev/null
	ip netns del cnew
	ip netns add cnew
	expect "after undo" "$(fairlane -n cnew save)" = 'limits set prio 6 weight 10 budget none'
	ip netns del cnew
}

# A port of a namespace that begins after the host has: the rest is done without it, it is done
# with the next apply, and undo does not miss it when it has gone.
test_apply_late_namespace()
{
	printf 'noise: 9us\nports:\n  lo: {netns: cnew, fabric: bands 2}\n' > $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	grep -qx 'port lo in cnew: it is not there yet; apply again when it comes' /run/out || fault "without it: $(cat /run/out)"
	grep -q '^profile set noise' <<< "$(fl save)" || fault "the rest is not done: $(fl save)"
	fairlane -j check $file > /run/a
	expect "port" "$(jq -r '.[] | select(.check == "fabric-port").text' /run/a)" = 'port lo is in the file and not there'
	ip netns add cnew
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	tc -n cnew qdisc show dev lo | grep -q 'fabric .*bands 2' || fault "lo: $(tc -n cnew qdisc show dev lo)"
	ip netns del cnew
	undo
	! grep -q Error /run/out || fault "undo: $(cat /run/out)"
}

# A namespace that was as the file says before the first apply is not changed by undo.
test_apply_undo_leaves_alone()
{
	echo 'noise: 9us' > $file
	fairlane profile set noise 7us
	fairlane -n ca profile set noise 8us
	echo 'profile set noise_ns 9000' | fairlane -n cb restore - || fault "no settings"
	expect "to be changed" "$(fairlane apply --dry-run $file | grep -c 'namespace cb')" -eq 0
	everything > /run/before
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	undo
	expect "after undo" "$(everything | diff - /run/before)" = ''
	# what undo has noted of the last time is not believed the next time
	fairlane -n cb profile set noise 6us
	everything > /run/before
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	undo
	expect "after the second undo" "$(everything | diff - /run/before)" = ''
	fairlane profile set noise default
}

# check says what is not as the file says, who starves, and what is too narrow.
test_apply_check()
{
	fabric_file
	sed -i '/swp9/d' $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	json check check $file > /run/a
	expect "all is as it should be" "$(jq -r '.[] | select(.check == "fabric-file").verdict' /run/a)" = ok
	fl policy del order 50
	tc qdisc del dev lo root
	fairlane -j check $file > /run/a
	expect "exit status of check" $? -eq 3
	expect "difference" "$(jq -r '.[] | select(.check == "fabric-file") | .verdict, .text' /run/a | tr '\n' ';')" = \
		"problem;network namespace ca is not as $file says, such as \"policy add order 50 prio 2 comment rest\";"
	expect "port" "$(jq -r '.[] | select(.check == "fabric-port").text' /run/a)" = 'port lo has not the queue that the file says'
	echo 'prio: x' > /run/bad.yaml
	fairlane -j check /run/bad.yaml > /run/a
	expect "a mistake" "$(jq -r '.[] | select(.check == "fabric-file").text' /run/a)" = \
		'Error: bad.yaml:1: prio: no loaded module has a setting "prio" ("fairlane profile show" lists all that are there; modprobe brings those of another module); other keys are control, namespaces, paths, limits, classes, ports, research'
	undo
}

# A long path makes wide channels, and its port is smaller than one: check says so before packets
# are lost.
test_apply_room()
{
	local port classes says

	load_modules sch_fabric
	while IFS=';' read -r port classes says; do
		printf '%s\n' 'line_rate: 10gbit' 'noise: 800ns' 'paths: {10.9.0.0/16: {base_rtt: 2ms}}' "$classes" \
			"ports: {lo: $port}" > $file
		json apply apply --dry-run $file > /dev/null
		fairlane -j check $file > /run/a
		expect "$port, $classes" "$(jq -r '.[] | select(.check == "fabric-room") | .verdict, .text, .cure' /run/a | tr '\n' ';')" = "$says"
	done <<- 'END'
		limit 1mb;control: prioplus;problem;port lo holds 1049kB, and prio 6 keeps 1256kB in it (base RTT 2ms, 10gbit): packets are lost before its flows stop;limit 1330kb of port lo in the file, or a lower prio;
		limit 1330kb;control: prioplus;
		limit 1mb;control: cubic;
		limit 1mb rate 5gbit;control: prioplus;
		limit 1mb;classes: {a: {prio: 5}};
		limit 1mb;classes: {a: {prio: 6, match: {dst: 10.0.0.0/16}}};
		limit 1mb;classes: {a: {prio: 6, base_rtt: 1ms, match: {dst: 10.0.0.0/8}}, b: {prio: 2}};
		limit 100kb bands 2 band 1 rate 1gbit limit 2mb;classes: {a: {prio: 1, match: {dst: 10.0.0.0/8}}};problem;port lo holds 102kB, and prio 1 keeps 209kB in it (base RTT 2ms, 10gbit): packets are lost before its flows stop;limit 308kb of port lo in the file, or a lower prio;
	END
}

# A user's flows have the budget of each user. That is none of his own: nothing is to be changed,
# and all can be taken back.
test_apply_budget()
{
	local port=5201

	printf 'control: prioplus\nlimits: {budget: 20}\n' > $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	sinks $port
	in_ns ca bash -c "exec 5<> /dev/tcp/10.0.2.1/$port; exec sleep 1000" &
	pids+=($!)
	sleep 0.1
	expect "used" "$(fl -j limits show | jq -c '.uids | map([.uid, .budget, .flows > 0])')" = '[[0,null,true]]'
	expect "save" "$(fl save)" = 'limits set prio 6 weight 10 budget 20'
	expect "apply again" "$(fairlane apply $file 2>&1)" = "everything is as $file says"
	sed -i 's/20/21/' $file
	fairlane apply $file > /run/out 2>&1 || fault "another budget: $(cat /run/out)"
	undo
	expect "after undo" "$(fl save | grep limits)" = 'limits set prio 6 weight 10 budget none'
	kill "${pids[@]}" 2> /dev/null
}

# A unit that is started again has another cgroup of the same path, one that is stopped has none.
test_gone_cgroups()
{
	cgroup unit
	printf 'limits: {cgroups: {/unit: 5}}\nclasses: {unit: {prio: 3, match: {cgroup: /unit}}}\n' > $file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	rmdir /sys/fs/cgroup/unit && mkdir /sys/fs/cgroup/unit || fault "no other cgroup"
	expect "check" "$(fairlane -j check $file | jq -r '.[] | select(.check == "fabric-file").verdict' | head -n 1)" = problem
	fairlane apply $file > /run/out 2>&1 || fault "apply again: $(cat /run/out)"
	expect "again" "$(grep -c ': changed' /run/out)" -eq 4
	expect "and again" "$(fairlane apply $file 2>&1)" = "everything is as $file says"
	expect "budgets" "$(fl limits show | grep -c /unit)" -eq 1
	sinks 5201
	# "ip netns exec" hides /sys
	bash -c 'echo $$ > /sys/fs/cgroup/unit/cgroup.procs
		exec ip netns exec ca bash -c "exec 5<> /dev/tcp/10.0.2.1/5201; exec sleep 1000"' &
	pids+=($!)
	sleep 0.1
	expect "a flow of the new one" "$(fl -j flow show dport 5201 | jq '.[0].prio')" -eq 3
	kill $!
	wait $! 2> /dev/null
	until rmdir /sys/fs/cgroup/unit; do sleep 0.1; done 2> /dev/null
	fl limits show | grep -qx 'cgroup /unit budget 5 used 0.000 flows 0 (gone)' || fault "limits: $(fl limits show)"
	fl policy show | grep -q 'hits 1 (its cgroup is gone) # unit$' || fault "policies: $(fl policy show)"
	json limits_show -n ca limits show > /run/a
	expect "limits in JSON" "$(jq '.cgroups[0].cgroup_gone' /run/a)" = true
	json policy_show -n ca policy show > /run/a
	expect "policies in JSON" "$(jq '.[0].cgroup_gone' /run/a)" = true
	expect "saved" "$(fl save | grep -c /unit)" -eq 2
	# all can be changed, taken back, and be as it was
	fl save > /run/before
	printf 'profile set noise 3us\npolicy add cgroup /nonono prio 1\n' > /run/settings
	refused 2 'everything is as it was before' restore /run/settings
	expect "a restore that is refused" "$(fl save | sed 's|"#[0-9]*"|/unit|' | diff - /run/before)" = ''
	printf 'noise: 3us\n' > $file
	fairlane apply $file > /run/out 2>&1 || fault "another file: $(cat /run/out)"
	expect "budgets then" "$(fl limits show | grep -c unit)" -eq 0
	undo
	cgroup unit
	accepted limits set cgroup /unit budget 5
	rmdir /sys/fs/cgroup/unit
	accepted limits set cgroup /unit budget none
	expect "budgets at the end" "$(fl limits show | grep -c unit)" -eq 0
	# by its number: no path needs to name it
	accepted policy add order 5 cgroup '#4711' prio 2
	accepted limits set cgroup '#4711' budget 2
	fl save > /run/before
	expect "by number" "$(grep -c 'cgroup "#4711"' /run/before)" -eq 2
	accepted restore /run/before
	expect "restored" "$(fl save | diff - /run/before)" = ''
	refused 1 'a path from the root of cgroup v2 is wanted' limits set cgroup '#0' budget 2
}

# Who waits for whom; whose channel lies below all that it ever sees.
test_classes()
{
	accepted policy add order 10 dport 5301 prio 1 comment backup
	accepted policy add order 20 dport 5302 prio 5 comment web
	for n in ca cb; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000
	done
	flowgen -f ca -t cb -a 10.0.2.1 -p 5301 -c prioplus -b -1 -L 400 > /dev/null &
	flowgen -f ca -t cb -a 10.0.2.1 -p 5303 -c prioplus -b -1 -L 1 > /dev/null &
	sleep 0.02
	flowgen -f ca -t cb -a 10.0.2.1 -p 5302 -c prioplus -b -1 -L 300 > /dev/null &
	sleep 0.05
	json flow_watch -n ca top count 2 interval 10ms | tail -n 1 > /run/a
	expect "classes" "$(jq -c '[.classes[] | select(.class) | [.prio, .class, .flows, .sending, .waiting, .starving]]' /run/a)" = \
		'[[5,"web",1,1,0,0],[1,"backup",1,0,1,0]]'
	expect "who waits for whom" "$(jq -c '[.classes[] | select(.class) | [.waits_for_prio, .waits_for_others]]' /run/a)" = '[[[],0],[[5],0]]'
	expect "what web sends" "$(jq '[.classes[] | select(.prio == 5).sent_bps > 500000000] | all' /run/a)" = true
	fl top count 1 | grep -qE '^ +1 backup +1 +0 +1 +0 .*  prio 5$' || fault "top: $(fl top count 1)"
	# flows of other hosts, as far as this one can tell
	expect "filtered" "$(fl -j top dport 5301 count 1 | jq -c '.classes[0] | [.waits_for_prio, .waits_for_others]')" = '[[],1]'
	wait
	# the path is longer than its base RTT and the flow's channel
	accepted profile set base_rtt 1us
	load_modules sch_fabric
	tc -n cr qdisc replace dev east root handle 2: fabric rate 1gbit delay 200us
	flowgen -f ca -t cb -a 10.0.2.1 -p 5301 -c prioplus -b -1 -L 300 > /dev/null &
	# it finds out by itself soon
	for n in $(seq 20); do
		sleep 0.003
		fairlane -n ca -j check > /run/a
		! jq -e '.[] | select(.check == "narrow")' /run/a > /dev/null || break
	done
	expect "narrow" "$(jq -r '[.[] | select(.check == "narrow")][0].text' /run/a | cut -c-54)" = '1 flows have never seen a delay that they may send at:'
	wait
}

# What check says under the name $1: verdict and cure.
checked() { jq -r ".[] | select(.check == \"$1\") | .verdict, .cure" /run/a | xargs; }

# A path between datacenters, 20 ms and 1 Gbit/s: buffers, windows, timeouts, pacing. One within, to
# the router, has an RTT of 200 us.
test_long_paths()
{
	for n in ca cb cr; do
		in_ns $n sysctl -q -w net.fairlane.line_rate_mbps=1000
	done
	lablink-ctl set e0 netns ca delay 200us && lablink-ctl set e0 netns cb delay 20ms || fault "delay"
	old=$(in_ns ca sysctl -n net.ipv4.tcp_wmem)
	flowgen -f ca -t cb -a 10.0.2.1 -p 5301 -c swift -b -1 -L 1500 > /dev/null &
	flowgen -f ca -t cr -a 10.0.1.254 -p 5302 -c swift -b -1 -L 1500 0:all:mbps=10 1500:all:mark > /dev/null &
	sleep 0.3
	in_ns ca sysctl -q -w net.ipv4.tcp_wmem='4096 16384 3000000' net.ipv4.tcp_rmem='4096 131072 9000000'
	fairlane -n ca -j check > /run/a
	expect "exit status" $? -eq 3
	expect "buffers" "$(checked tcp_wmem | cut -c-46)" = "problem sysctl net.ipv4.tcp_wmem=4096 16384 50"
	expect "receiver's first window" "$(checked tcp_rmem | cut -c-37)" = "note sysctl net.ipv4.tcp_rmem=4096 50"
	expect "timeouts" "$(checked rto_min)" = 'note ip route change PREFIX ... rto_min 30ms'
	# 1 Gbit/s x 204 us
	expect "first window" "$(checked initcwnd)" = 'note ip route change PREFIX ... initcwnd 17'
	expect "pacing" "$(checked pacing)" = 'note tc qdisc replace dev e0 root fq'
	# with the cures nothing is left
	for key in tcp_wmem tcp_rmem; do
		in_ns ca sysctl -q -w "$(jq -r ".[] | select(.check == \"$key\").cure" /run/a | sed "s/^sysctl //; s/'//g")"
	done
	# shellcheck disable=SC2046 # words
	ip -n ca route change $(ip -n ca route show default) rto_min 30ms || fault "route"
	# shellcheck disable=SC2046 # words
	ip -n ca route change $(ip -n ca route show 10.0.1.0/24) initcwnd 17 || fault "route within"
	in_ns ca sh -c "$(jq -r '.[] | select(.check == "pacing").cure' /run/a)" || fault "fq"
	fairlane -n ca -j check > /run/a
	expect "what is left" "$(jq -r '.[] | select(.check | IN("tcp_wmem", "tcp_rmem", "rto_min", "initcwnd", "pacing")).text' /run/a)" = ''
	# fq can be in the way; a receiver takes 64 kB at first
	tc -n ca qdisc change dev e0 root fq maxrate 100mbit || fault "maxrate"
	accepted profile set dst 10.0.1.0/24 line_rate 10gbit
	flowgen -f ca -t cr -a 10.0.1.254 -p 5303 -c swift -b -1 -L 300 0:all:mbps=10 300:all:mark > /dev/null &
	sleep 0.1
	fairlane -n ca -j check > /run/a
	expect "exit status" $? -eq 3
	expect "first window of a fast line" "$(checked initcwnd)" = 'note ip route change PREFIX ... initcwnd 45'
	expect "a rate of fq's" "$(checked pacing)" = 'problem tc qdisc change dev e0 root fq maxrate 1gbit'
	in_ns ca sysctl -q -w net.ipv4.tcp_wmem="$old"
	wait
}

# A socket's control, live: by filter, by descriptor, a part of the flows, of a cgroup.
test_flow_cc()
{
	local i

	sinks 5201 5202
	open_flow 10.0.2.1 5201
	expect "before" "$(field 5201 cc)" = cubic
	accepted flow set dport 5201 cc prioplus
	expect "by filter" "$(field 5201 cc)" = prioplus
	accepted flow set pid "$opened" fd 5 cc reno
	expect "by descriptor" "$(field 5201 cc)" = reno
	refused 2 'there is no such congestion control' flow set dport 5201 cc nonsense
	refused 1 'one after the other' flow set from reno cc cubic prio 3 dport 5201
	refused 1 '"share" goes with "all"' flow set dport 5201 cc cubic share 5%
	refused 1 'share 5: a part' flow set dport 5201 cc cubic share 5 all
	# with something else to set it is one that the flow must have, as in flow show
	refused 2 'no flow fits' flow set dport 5201 cc cubic prio 3
	expect "all of none" "$(fl flow set dport 5201 all cc cubic prio 3)" = '0 of 0 flows changed'
	expect "another for none" "$(fl flow set dport 1 all cc reno)" = '0 of 0 flows have reno'
	refused 2 'cc nonsense: there is no such congestion control' flow set dport 1 all cc nonsense
	refused 2 'from nonsense: there is no such congestion control' flow set from nonsense cc cubic all
	accepted flow set dport 5201 cc reno prio 3
	expect "prio" "$(field 5201 prio) $(field 5201 cc)" = '3 reno'
	cgroup canary
	# "ip netns exec" hides /sys
	bash -c 'echo $$ > /sys/fs/cgroup/canary/cgroup.procs
		exec ip netns exec ca bash -c "exec 5<> /dev/tcp/10.0.2.1/5202; sleep 1000"' &
	pids+=($!)
	for i in $(seq 40); do
		ip netns exec ca bash -c 'exec 5<> /dev/tcp/10.0.2.1/5202; exec sleep 1000' &
		pids+=($!)
	done
	sleep 0.5
	expect "all of them" "$(fl -j flow show dport 5202 cc cubic | jq length)" -eq 41
	accepted flow set cgroup /canary all cc prioplus
	expect "of the cgroup" "$(fl -j flow show dport 5202 cc prioplus | jq length)" -eq 1
	accepted flow set from prioplus cc cubic all
	expect "none has it" "$(fl -j flow show cc prioplus | jq length)" -eq 0
	accepted flow set dport 5202 cc prioplus share 25% all
	i=$(fl -j flow show cc prioplus | jq length)
	# 41 flows, each with probability 1/4
	expect "a quarter of 41 flows" "$i" -ge 3
	expect "a quarter of 41 flows" "$i" -le 21
	accepted flow set dport 5202 cc prioplus share 25% all
	expect "the same ones" "$(fl -j flow show cc prioplus | jq length)" -eq "$i"
	fl top cc prioplus count 1 > /run/out 2>&1 || fault "top: $(cat /run/out)"
	accepted flow set from prioplus cc cubic all
	# new ones, by destination: the kernel's own
	ip -n ca route change default via 10.0.1.254 congctl prioplus || fault "no congctl"
	open_flow 10.0.2.1 5201
	expect "new ones" "$(fl -j flow show cc prioplus | jq length)" -eq 1
}

# The lines of a unit that begin with $2=, as commands.
unit_lines() { sed -n "s|/etc/fairlane/|/run/etc/|; s|^$2=-\{0,1\}@SBIN@/||p" "$TOOL_FILES/$1.service.in"; }

# Stopping a unit undoes what starting it did.
test_units()
{
	local unit

	mkdir -p /run/etc
	fabric_file /run/etc/fabric.yaml
	fl policy add order 7 dport 7 prio 3 > /dev/null
	fairlane -n ca save /run/etc/fairlane.conf
	fl policy flush
	# this host has had settings of its own
	fairlane policy add order 3 dport 9 prio 2
	everything > /run/before
	for unit in fairlane-fabric fairlane; do
		[ $unit = fairlane-fabric ] || { fairlane policy flush; everything > /run/before; }
		sh -ec "$(unit_lines $unit ExecStart)" > /run/out 2>&1 || fault "start of $unit: $(cat /run/out)"
		expect "$unit has done something" "$(everything | cmp -s - /run/before; echo $?)" -eq 1
		everything > /run/started
		sh -ec "$(unit_lines $unit ExecReload)" > /run/out 2>&1 || fault "reload of $unit: $(cat /run/out)"
		expect "$unit, reloaded" "$(everything | diff - /run/started)" = ''
		sh -ec "$(unit_lines $unit ExecStop)" > /run/out 2>&1 || fault "stop of $unit: $(cat /run/out)"
		expect "$unit, stopped" "$(everything | diff - /run/before)" = ''
	done
}

# The scripts for NetworkManager and networkd-dispatcher, and the playbook.
test_recipes()
{
	local script=$TOOL_FILES/fairlane.dispatcher

	fabric_file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	ip link add swp9 type veth peer name swp9b || fault "no veth"
	FAIRLANE_FABRIC=$file sh "$script" swp9 down || fault "down: $?"
	tc qdisc show dev swp9 | grep -q fabric && fault "has a queue when it goes down"
	FAIRLANE_FABRIC=$file sh "$script" swp9 up > /run/out 2>&1 || fault "as NetworkManager: $(cat /run/out)"
	tc qdisc show dev swp9 | grep -q 'fabric 1: root' || fault "as NetworkManager: $(tc qdisc show dev swp9)"
	tc qdisc del dev swp9 root
	IFACE=swp9 OperationalState=routable FAIRLANE_FABRIC=$file sh "$script" > /run/out 2>&1 || fault "as networkd: $(cat /run/out)"
	tc qdisc show dev swp9 | grep -q 'fabric 1: root' || fault "as networkd: $(tc qdisc show dev swp9)"
	FAIRLANE_FABRIC=/run/nothing sh "$script" swp9 up || fault "without a file: $?"
	ip link del swp9
	undo
}

# cni ADD|DEL: what a container runtime does with the list $list for the namespace cpod. Plugins are
# called one after the other, each with what the one before has said.
cni()
{
	local i said=null

	for i in 0 1; do
		jq --argjson i $i --argjson said "$said" '. as $all | .plugins[$i] +
			{cniVersion: $all.cniVersion, name: $all.name} + if $said then {prevResult: $said} else {} end' "$list" |
			CNI_COMMAND=$1 CNI_CONTAINERID=pod CNI_NETNS=/run/netns/cpod CNI_IFNAME=eth0 CNI_PATH=/usr/lib/cni \
			"/usr/lib/cni/$(jq -r ".plugins[$i].type" "$list")" > /run/said || { cat /run/said; return 1; }
		[ "$1" = DEL ] || said=$(cat /run/said)
	done
}

# The recipe for CNI with Debian's plugins: a pod has the settings before it has a device, and
# what is its own before its device has sent anything of it; its first connection has its class.
test_cni()
{
	local list=/run/10-fairlane.conflist own

	[ -x /usr/lib/cni/ptp ] || { skip_test "no CNI plugins: scripts/deps recipes"; return; }
	fabric_file
	fairlane apply $file > /run/out 2>&1 || fault "apply: $(cat /run/out)"
	jq '.plugins[0].ipam.dataDir = "/run/cni"' "$TOOL_FILES/10-fairlane.conflist" > $list
	ip netns add cpod
	expect "settings without a device" "$(fairlane -n cpod save)" = "$fabric_settings"
	cni ADD > /run/out 2>&1 || fault "ADD: $(cat /run/out)"
	own=${fabric_settings/noise_ns 2000/noise_ns 5000}
	expect "settings of the pod" "$(fairlane -n cpod save)" = "$own"
	expect "control of the pod" "$(in_ns cpod sysctl -n net.ipv4.tcp_congestion_control)" = prioplus
	expect "settings of the host" "$(fairlane save)" = "$fabric_settings"
	expect "what the pod has sent by TCP" "$(counter cpod TcpOutSegs)" -eq 0
	iperf3 -s -p 5201 > /dev/null 2>&1 &
	pids+=($!)
	sleep 0.1
	ip netns exec cpod bash -c 'exec 5<> /dev/tcp/10.88.0.1/5201; exec sleep 1000' &
	pids+=($!)
	sleep 0.1
	expect "the first flow" "$(fairlane -n cpod -j flow show dport 5201 | jq -c '.[0] | [.cc, .prio, .weight]')" = '["prioplus",1,2.5]'
	kill "${pids[@]}" 2> /dev/null
	cni DEL > /run/out 2>&1 || fault "DEL: $(cat /run/out)"
	ip netns del cpod
	undo
}

# The playbook, twice: something changes once. It takes a while: Python.
test_playbook()
{
	command -v ansible-playbook > /dev/null || { skip_test "no ansible-playbook: scripts/deps recipes"; return; }
	fabric_file
	sed -i '/swp9/d' $file
	mkdir -p /run/etc /run/ansible /dev/shm && mount -t tmpfs none /dev/shm
	rm -f /run/etc/fabric.yaml
	everything > /run/before
	play() { LC_ALL=C.UTF-8 HOME=/run/ansible ansible-playbook -i localhost, -c local -e ansible_remote_tmp=/run/ansible \
		-e "fairlane_file=$1 fairlane_target=/run/etc/fabric.yaml" "$TOOL_FILES/fairlane.ansible.yml" > /run/out 2>&1; }
	play $file || fault "the playbook: $(tail -n 20 /run/out)"
	grep -q 'changed=2 ' /run/out || fault "the first time: $(tail -n 3 /run/out)"
	expect "settings" "$(fl save)" = "$fabric_settings"
	play $file || fault "the playbook: $(tail -n 20 /run/out)"
	grep -q 'changed=0 ' /run/out || fault "the second time: $(tail -n 3 /run/out)"
	echo 'noise: x' > /run/bad.yaml
	! play /run/bad.yaml || fault "a bad file is taken"
	cmp -s /run/etc/fabric.yaml $file || fault "a bad file is put there"
	undo
	expect "after undo" "$(everything | diff - /run/before)" = ''
}
