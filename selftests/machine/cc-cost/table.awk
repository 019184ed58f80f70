# SPDX-License-Identifier: GPL-2.0
#
# Makes tables and values of what guest.sh answers. Variable out: the folder.
function per(sum, calls)
{
	return calls ? sum / calls : 0
}

# The larger of what one and eight flows cost.
function worst(control,    i, most)
{
	for (i = 1; i <= counts; i++)
		if (ack[control, flows[i]] > most)
			most = ack[control, flows[i]]
	return most
}

$1 == "ack" {
	if (!(($2, $3) in seen)) {
		seen[$2, $3] = 1
		if (!($2 in known)) {
			known[$2] = 1
			order[++controls] = $2
		}
		if (!($3 in counted)) {
			counted[$3] = 1
			flows[++counts] = $3
		}
	}
	calls[$2, $3, $4, $5] = $6
	cycles[$2, $3, $4, $5] = $7
	if ($5 == "dispatch")
		dispatch = $7
}

$1 == "carried" {
	carried_calls[$3, $4] = $5
	carried_cycles[$3, $4] = $6
	carried_packets[$3, $4] = $7
}

$1 == "stamp" { stamp[$2] = $3 / $4 }

$1 == "stopped" {
	stopped_calls[$2, $3, $4] = $5
	stopped_cycles[$2, $3, $4] = $6
	stopped[$2] = 1
}

$1 == "slab" {
	of_slab[$2, $4] = $5 * $6 / $3
	slabs[$4] = 1
	if (!($2 in slabbed)) {
		slabbed[$2] = 1
		slab_order[++slab_controls] = $2
	}
}

END {
	kinds = split("cong_control cong_avoid in_ack_event pkts_acked cwnd_event ssthresh min_tso_segs set_state", what, " ")
	file = out "/acks.rst"
	line = "================  ==========  ============  =============  =====  ======  ========  ========"
	print line > file
	print "control           flows       cong_control  min_tso_segs   other  all     of bbr    of dctcp" > file
	print line > file
	for (j = 1; j <= counts; j++)
		for (i = 1; i <= controls; i++) {
			c = order[i]
			f = flows[j]
			acks = calls[c, f, "sender", "in_ack"]
			all = 0
			for (k = 1; k <= kinds; k++)
				all += cycles[c, f, "sender", what[k]]
			ack[c, f] = per(all, acks)
		}
	for (j = 1; j <= counts; j++)
		for (i = 1; i <= controls; i++) {
			c = order[i]
			f = flows[j]
			acks = calls[c, f, "sender", "in_ack"]
			main = per(cycles[c, f, "sender", "cong_control"] + cycles[c, f, "sender", "cong_avoid"], acks)
			segs = per(cycles[c, f, "sender", "min_tso_segs"], acks)
			printf "%-16s  %-10d  %12.0f  %13.0f  %5.0f  %6.0f  %8.2f  %8.2f\n", c, f, main, segs,
			       ack[c, f] - main - segs, ack[c, f], ack[c, f] / ack["bbr", f],
			       ack[c, f] / ack["dctcp", f] > file
		}
	print line > file
	close(file)

	file = out "/soze.rst"
	line = "=============================================  ==========  ==================="
	print line > file
	print "part                                           one by one  as TSO/GRO carry it" > file
	print line > file
	f = flows[counts]
	acks = calls["soze", f, "sender", "in_ack"]
	part[1] = per(cycles["soze", f, "sender", "out_data"], calls["soze", f, "sender", "out_data"])
	part[2] = stamp["with"] - stamp["without"]
	part[3] = per(cycles["soze", f, "receiver", "in_data"] - cycles["soze", f, "receiver", "lookup"],
		      calls["soze", f, "receiver", "in_data"])
	part[4] = per(cycles["soze", f, "receiver", "out_ack"], calls["soze", f, "receiver", "out_ack"])
	part[5] = per(cycles["soze", f, "sender", "in_ack"] - cycles["soze", f, "sender", "lookup"], acks)
	part[6] = ack["soze", f]
	part[7] = 4 * dispatch
	split("data packet, sender's hook: inserted|the switch's stamp (raised)|data packet, receiver's hook: taken in|ACK, receiver's hook: inserted with the echo|ACK, sender's hook: read|callbacks of soze, an ACK|netfilter's calls of four hooks", text, "|")
	# The same for each packet with data on the line, which share skbs and ACKs.
	wire = carried_packets["sender", "out_data"]
	many[1] = per(carried_cycles["sender", "out_data"], wire)
	many[2] = part[2]
	many[3] = per(carried_cycles["receiver", "in_data"] - carried_cycles["receiver", "lookup"], wire)
	many[4] = per(carried_cycles["receiver", "out_ack"], wire)
	many[5] = per(carried_cycles["sender", "in_ack"] - carried_cycles["sender", "lookup"], wire)
	for (k = 1; k <= kinds; k++)
		many[6] += per(carried_cycles["sender", what[k]], wire)
	many[7] = dispatch * per(carried_calls["sender", "out_data"] + carried_calls["receiver", "in_data"] + \
		carried_calls["receiver", "out_ack"] + carried_calls["sender", "in_ack"], wire)
	for (i = 1; i <= 7; i++) {
		soze += part[i]
		together += many[i]
		printf "%-45s  %10.0f  %19.0f\n", text[i], part[i], many[i] > file
	}
	printf "%-45s  %10.0f  %19.0f\n", "together", soze, together > file
	printf "%-45s  %10s  %19.1f\n", "packets on the line for a call: out", "1", \
		per(wire, carried_calls["sender", "out_data"]) > file
	printf "%-45s  %10s  %19.1f\n", "packets on the line for a call: in", "1", \
		per(wire, carried_calls["receiver", "in_data"]) > file
	printf "%-45s  %10.1f  %19.1f\n", "packets with data for an ACK", \
		per(calls["soze", f, "sender", "out_data"], acks), per(wire, carried_calls["sender", "in_ack"]) > file
	printf "%-45s  %10.0f\n", "for comparison: a packet of Reno, out",
	       per(cycles["reno", f, "sender", "out_data"], calls["reno", f, "sender", "out_data"]) > file
	printf "%-45s  %10.0f\n", "for comparison: a packet of Reno, in",
	       per(cycles["reno", f, "receiver", "in_data"], calls["reno", f, "receiver", "in_data"]) > file
	print line > file
	close(file)

	file = out "/stopped.rst"
	line = "======  ======  ==========  ============  =====  =============  =========  ============"
	print line > file
	print "flows   probes  timer runs  ACKs of data  other  stack's timer  echoes     instructions" > file
	print line > file
	for (f in stopped) {
		probes = stopped_calls[f, "sender", "out_data"]
		timers = stopped_calls[f, "sender", "timer"]
		echoes = stopped_calls[f, "sender", "in_ack"]
		events = stopped_calls[f, "sender", "in_ack_event"]
		rto = stopped_calls[f, "sender", "rto"]
		segs = stopped_calls[f, "sender", "min_tso_segs"]
		# the stack asks with each echo whether there is something to send
		went_on = stopped_calls[f, "sender", "cong_control"]
		other = stopped_calls[f, "sender", "out_ack"] + (segs > echoes ? segs - echoes : 0)
		spent = stopped_cycles[f, "sender", "timer"] + stopped_cycles[f, "sender", "in_ack_event"] + \
			stopped_cycles[f, "sender", "min_tso_segs"]
		printf "%-6d  %6d  %10d  %12d  %5d  %13d  %9d  %12.0f\n", f, probes, timers, went_on, other, rto, echoes,
		       per(spent, probes) > file
		events_beside = went_on + other + rto
		# A probe or an echo is under way when counting begins or ends, for each flow.
		if (!probes || timers < probes - f || timers > probes + f)
			events_beside += 1 + (timers > probes ? timers - probes : probes - timers)
		if (events != echoes || echoes > probes + f)
			events_beside += 1 + (events > probes ? events - probes : probes - events)
		# With ACKs of data a flow was not stopped all the time. If no run was without, that
		# is what was measured.
		if (went_on) {
			beside_moving += events_beside
		} else {
			beside += events_beside
			stopped_runs++
		}
	}
	if (!stopped_runs)
		beside = beside_moving
	print line > file
	close(file)

	file = out "/memory.rst"
	line = "================  =====  ======================================"
	print line > file
	print "control           bytes  where" > file
	print line > file
	for (i = 1; i <= slab_controls; i++) {
		c = slab_order[i]
		sum = 0
		where = ""
		for (s in slabs) {
			# Reno and BBR have all in the socket: what they differ by is others'
			least = of_slab["reno", s] > of_slab["bbr", s] ? of_slab["reno", s] : of_slab["bbr", s]
			more = of_slab[c, s] - least
			if (more > 4) {
				sum += more
				where = where (where == "" ? "" : ", ") sprintf("%s %.0f", s, more)
			}
		}
		bytes[c] = sum
		printf "%-16s  %5.0f  %s\n", c, sum, where > file
	}
	print line > file
	close(file)

	file = out "/values"
	pp = worst("prioplus")
	printf "of_bbr %.2f\nof_dctcp %.2f\nbytes %.0f\nbeside %d\nsoze %.0f\ncarried %.0f\n", pp / worst("bbr"),
	       pp / worst("dctcp"), bytes["prioplus"], beside, soze, together > file
	close(file)
	exit !(controls && counts && ack["bbr", flows[1]] && ack["dctcp", flows[1]] && slab_controls && acks)
}
