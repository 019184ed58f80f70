-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark and tshark: Fairlane's telemetry option in TCP segments and border routers'
-- messages (Documentation/reference/telemetry.rst), credits (Documentation/design/credit.rst), and frames
-- between switch ports (linux/fabric_frame.h). Copy it to the folder of personal Lua plugins,
-- or: tshark -X lua_script:tools/wireshark/fairlane.lua
--
-- fairlane.delay	largest queueing delay that this segment met, ns
-- fairlane.echo	what the peer's data met, ns; absent if it tells nothing
-- fairlane.saturated	the delay or the load is larger than the option can tell
-- fairlane.load	largest load of a port that this segment met, 1 = full
-- fairlane.load_echo	that of the peer's data; absent if it tells nothing
-- fairlane.load_time	time over which loads are meant, ns
-- fairlane.load_near	load of the way to the border router, which says it
-- fairlane.tell	rate that the far border router asks for, byte/s
-- fairlane.of		in a message: the data that met the load, "address:port address:port"
-- fairlane.of_seq	its sequence number
--
-- credit.type		1 REQUEST, 2 GRANT, 3 CREDIT, 4 GREEN, 5 RED, 6 SEEN
-- credit.number	of a credit: the newest that came (REQUEST), the one before the first (GRANT),
--			this one (CREDIT), the one that pays (GREEN)
-- credit.segs		segments that a credit pays for (GRANT, CREDIT)
-- credit.flexpass	credits of FlexPass' part of the line are wanted (REQUEST, GREEN)
-- credit.backlog	segments that are left to send (REQUEST, GREEN)
-- credit.reds		red segments sent so far (GREEN, RED) or seen (SEEN), modulo 2^14
-- credit.marks		red segments that came marked so far (SEEN), modulo 2^14
--
-- fabric.type		1 PAUSE, 2 RESUME, 3 MERGE, 4 RELEASE, 5 FLOWS
-- fabric.group		of FLOWS: which group of flows
-- fabric.wait		those of them that are to wait, a bit each
-- fabric.root		congestion root, "switch:port"
-- fabric.into		in a MERGE: what takes its place
-- fabric.distance	hops from the receiver to the root
-- fabric.epoch, fabric.sequence, fabric.hold (ns), fabric.held, fabric.threshold (bytes)

local EXID = 0x464c
local LOAD_EXID = 0x464d
local LOAD_MAX = 0x3ff
local OPEN, ECHO, CLOSED, TELL = 0, 1, 2, 3
local ICMP_TYPE, ICMPV6_TYPE = 253, 200
local LENGTH = 8
local UNIT_NS = 16
local COARSE = 0x8000
local COARSE_UNIT_NS = 512
local MAX = 0xfffe
local NO_ECHO = 0xffff

local fairlane = Proto("fairlane", "Fairlane telemetry")
local f = fairlane.fields
f.delay = ProtoField.uint32("fairlane.delay", "Queueing delay (ns)", base.DEC)
f.echo = ProtoField.uint32("fairlane.echo", "Echoed delay (ns)", base.DEC)
f.saturated = ProtoField.bool("fairlane.saturated", "Saturated")
f.load = ProtoField.double("fairlane.load", "Load")
f.load_echo = ProtoField.double("fairlane.load_echo", "Echoed load")
f.load_time = ProtoField.uint32("fairlane.load_time", "Over (ns)", base.DEC)
f.load_near = ProtoField.double("fairlane.load_near", "Load to the border")
f.tell = ProtoField.double("fairlane.tell", "Rate asked for (byte/s)")
f.of = ProtoField.string("fairlane.of", "Of the data")
f.of_seq = ProtoField.uint32("fairlane.of_seq", "Its sequence number", base.DEC)
local malformed = ProtoExpert.new("fairlane.malformed", "Malformed telemetry option",
	expert.group.MALFORMED, expert.severity.ERROR)
fairlane.experts = { malformed }

local tcp_header = Field.new("tcp.hdr_len")
local tcp_source = Field.new("tcp.srcport")
local icmp_type = Field.new("icmp.type")
local icmpv6_type = Field.new("icmpv6.type")

-- The delay that a number stands for, ns.
local function delay_ns(units)
	return math.min(units, COARSE) * UNIT_NS + math.max(units - COARSE, 0) * COARSE_UNIT_NS
end

-- Adds the option at the offset of the header to the tree.
local function show(option, tree)
	local sub = tree:add(fairlane, option)
	local delay = option(4, 2):uint()
	local echo = option(6, 2):uint()

	sub:add(f.delay, option(4, 2), delay_ns(delay))
	if delay >= MAX then
		sub:add(f.saturated, option(4, 2), true)
	end
	if echo ~= NO_ECHO then
		sub:add(f.echo, option(6, 2), delay_ns(echo))
		sub:append_text(string.format(", delay %d ns, echo %d ns",
			delay_ns(delay), delay_ns(echo)))
	else
		sub:append_text(string.format(", delay %d ns", delay_ns(delay)))
	end
end

-- The load that a number stands for.
local function load_of(code)
	return (128 + code % 128) / 128 * 2 ^ (math.floor(code / 128) - 4)
end

-- The load of the way to the border, which a word of type CLOSED says.
local function show_near(word, sub)
	local load = load_of(word:bitfield(6, 10))

	sub:add(f.load_near, word, load)
	sub:add(f.load_time, word, 8192 * 2 ^ word:bitfield(2, 4))
	sub:append_text(string.format(", to the border %.3f", load))
end

-- The option with a load; words of types that are not known have no meaning.
local function show_load(option, tree)
	local sub = tree:add(fairlane, option)
	local code = option(4, 2):bitfield(6, 10)
	local told = option(6, 2):bitfield(6, 10)
	local forward = option(4, 2):bitfield(0, 2)
	local reverse = option(6, 2):bitfield(0, 2)

	if forward == CLOSED then
		show_near(option(4, 2), sub)
	elseif forward == OPEN then
		sub:add(f.load, option(4, 2), load_of(code))
		sub:add(f.load_time, option(4, 2), 8192 * 2 ^ option(4, 2):bitfield(2, 4))
		sub:append_text(string.format(", load %.3f", load_of(code)))
		if code >= LOAD_MAX then
			sub:add(f.saturated, option(4, 2), true)
		end
	end
	if reverse == TELL then
		local rate = (512 + option(6, 2):bitfield(7, 9)) * 2 ^ option(6, 2):bitfield(2, 5)

		sub:add(f.tell, option(6, 2), rate)
		sub:append_text(string.format(", asks for %.0f byte/s", rate))
	elseif reverse == ECHO then
		sub:add(f.load_echo, option(6, 2), load_of(told))
		sub:append_text(string.format(", echo %.3f", load_of(told)))
	end
end

-- Walks the options of a header. Nothing is believed.
local function walk(header, tree)
	local at = 20

	while at < header:len() do
		local kind = header(at, 1):uint()

		if kind == 0 then
			return
		elseif kind == 1 then
			at = at + 1
		else
			if at + 2 > header:len() then
				return
			end
			local length = header(at + 1, 1):uint()

			if length < 2 or at + length > header:len() then
				return
			end
			local exid = kind == 253 and length >= 4 and header(at + 2, 2):uint()

			if exid == EXID or exid == LOAD_EXID then
				if length == LENGTH then
					local shown = exid == EXID and show or show_load

					shown(header(at, length), tree)
				else
					tree:add_proto_expert_info(malformed)
				end
				return
			end
			at = at + length
		end
	end
end

-- ---- credit: always the first option of a header ------------------------------

local CREDIT_EXID = 0x4658
local REQUEST, GRANT, CREDIT, GREEN, RED, SEEN = 1, 2, 3, 4, 5, 6
local names = { [REQUEST] = "REQUEST", [GRANT] = "GRANT", [CREDIT] = "CREDIT",
	[GREEN] = "GREEN", [RED] = "RED", [SEEN] = "SEEN" }
local lengths = { [REQUEST] = 12, [GRANT] = 8, [CREDIT] = 8, [GREEN] = 12, [RED] = 8, [SEEN] = 8 }

local credit = Proto("credit", "Fairlane credit")
local c = credit.fields
c.type = ProtoField.uint8("credit.type", "Type", base.DEC, names)
c.number = ProtoField.uint32("credit.number", "Number", base.DEC)
c.segs = ProtoField.uint32("credit.segs", "Segments of a credit", base.DEC)
c.flexpass = ProtoField.bool("credit.flexpass", "FlexPass' part of the line")
c.backlog = ProtoField.uint32("credit.backlog", "Segments left to send", base.DEC)
c.reds = ProtoField.uint32("credit.reds", "Red segments", base.DEC)
c.marks = ProtoField.uint32("credit.marks", "Marked red segments", base.DEC)
local refused = ProtoExpert.new("credit.malformed", "Malformed credit option",
	expert.group.MALFORMED, expert.severity.ERROR)
credit.experts = { refused }

-- Adds the option at the beginning of @options to the tree, if it is one. Nothing is believed.
local function show_credit(options, tree)
	if options:len() < 4 or options(0, 1):uint() ~= 253 or options(2, 2):uint() ~= CREDIT_EXID then
		return
	end
	local length = options(1, 1):uint()
	local sub = tree:add(credit, options(0, math.min(math.max(length, 4), options:len())))
	local kind = options:len() >= 8 and options(4, 1):bitfield(0, 4)

	if not kind or lengths[kind] ~= length or length > options:len() then
		sub:add_proto_expert_info(refused)
		return
	end
	sub:add(c.type, options(4, 1), kind)
	sub:append_text(", " .. names[kind])
	if kind <= GREEN then
		sub:add(c.number, options(5, 3), options(4, 4):bitfield(10, 22))
	end
	if kind == GRANT or kind == CREDIT then
		sub:add(c.segs, options(4, 2), options(4, 4):bitfield(4, 6) + 1)
	elseif kind == REQUEST or kind == GREEN then
		sub:add(c.flexpass, options(4, 1), options(4, 1):bitfield(4, 1) == 1)
		sub:add(c.backlog, options(10, 2), options(10, 2):uint())
	end
	if kind == GREEN then
		sub:add(c.reds, options(8, 2), options(8, 2):bitfield(2, 14))
	elseif kind == RED or kind == SEEN then
		sub:add(c.reds, options(4, 3), options(4, 4):bitfield(4, 14))
	end
	if kind == SEEN then
		sub:add(c.marks, options(6, 2), options(4, 4):bitfield(18, 14))
	end
end

-- A border router's message, from its ICMP header on: a word, then IP and TCP header of the
-- data. Others use this type too: what does not begin as ours does is left alone.
local function show_message(message, tree)
	if message:len() < 8 or message(1, 1):uint() ~= 0 or message(4, 2):uint() ~= LOAD_EXID or
	   message(6, 2):bitfield(0, 2) ~= CLOSED then
		return
	end
	local sub = tree:add(fairlane, message)
	local v6 = message:len() > 8 and message(8, 1):bitfield(0, 4) == 6
	local header = v6 and 40 or message:len() > 8 and 4 * message(8, 1):bitfield(4, 4) or 0

	show_near(message(6, 2), sub)
	if header < 20 or message:len() < 8 + header + 20 then
		sub:add_proto_expert_info(malformed)
		return
	end
	local from = tostring(v6 and message(16, 16):ipv6() or message(20, 4):ipv4())
	local to = tostring(v6 and message(32, 16):ipv6() or message(24, 4):ipv4())
	local tcp = message(8 + header, 20)

	sub:add(f.of, message(8, header + 4), string.format("%s:%u %s:%u", from, tcp(0, 2):uint(),
		to, tcp(2, 2):uint()))
	sub:add(f.of_seq, tcp(4, 4), tcp(4, 4):uint())
end

-- A postdissector sees the packet when TCP or ICMP is done with it.
function fairlane.dissector(buffer, _, tree)
	local icmp, icmpv6 = icmp_type(), icmpv6_type()

	if icmp and icmp.value == ICMP_TYPE then
		show_message(buffer(icmp.offset):tvb()(), tree)
	elseif icmpv6 and icmpv6.value == ICMPV6_TYPE then
		show_message(buffer(icmpv6.offset):tvb()(), tree)
	end
	local length, source = tcp_header(), tcp_source()

	if not length or not source or length.value < 28 then
		return
	end
	local start = source.offset

	if start + length.value <= buffer:len() then
		walk(buffer(start, length.value), tree)
		show_credit(buffer(start + 20, length.value - 20), tree)
	end
end

register_postdissector(fairlane)

-- ---- frames between switch ports ---------------------------------------------

local FRAME_ETHERTYPE = 0x88b5
local FRAME_MAGIC = 0x464c
local FRAME_VERSION = 1
local FRAME_LENGTH = 40
local MERGE, FLOWS = 3, 5
local types = { [1] = "PAUSE", [2] = "RESUME", [MERGE] = "MERGE", [4] = "RELEASE", [FLOWS] = "FLOWS" }

local fabric = Proto("fabric", "Fairlane switch frame")
local g = fabric.fields
g.type = ProtoField.uint8("fabric.type", "Type", base.DEC, types)
g.epoch = ProtoField.uint32("fabric.epoch", "Epoch", base.HEX)
g.sequence = ProtoField.uint32("fabric.sequence", "Sequence", base.DEC)
g.root = ProtoField.string("fabric.root", "Congestion root")
g.distance = ProtoField.uint8("fabric.distance", "Hops to the root", base.DEC)
g.into = ProtoField.string("fabric.into", "Root that takes its place")
g.group = ProtoField.uint16("fabric.group", "Group of flows", base.DEC)
g.wait = ProtoField.uint64("fabric.wait", "Flows that wait", base.HEX)
g.hold = ProtoField.uint32("fabric.hold", "Holds (ns)", base.DEC)
g.held = ProtoField.uint32("fabric.held", "Sender holds (bytes)", base.DEC)
g.threshold = ProtoField.uint32("fabric.threshold", "Threshold (bytes)", base.DEC)
local cut_off = ProtoExpert.new("fabric.malformed", "Frame that receivers refuse",
	expert.group.MALFORMED, expert.severity.ERROR)
fabric.experts = { cut_off }

local function name(data)
	return string.format("%u:%u", data(0, 4):uint(), data(4, 2):uint())
end

-- Others use this EtherType too: what does not begin as ours does is left alone.
function fabric.dissector(buffer, pinfo, tree)
	if buffer:len() < 4 or buffer(0, 2):uint() ~= FRAME_MAGIC then
		return 0
	end
	local sub = tree:add(fabric, buffer(0, math.min(buffer:len(), FRAME_LENGTH)))
	local kind = buffer(3, 1):uint()

	pinfo.cols.protocol = "FABRIC"
	sub:add(g.type, buffer(3, 1))
	if buffer(2, 1):uint() ~= FRAME_VERSION or not types[kind] or buffer:len() < FRAME_LENGTH then
		sub:add_proto_expert_info(cut_off)
		return buffer:len()
	end
	sub:add(g.epoch, buffer(4, 4))
	sub:add(g.sequence, buffer(8, 4))
	if kind == FLOWS then
		sub:add(g.group, buffer(12, 2))
		sub:add(g.wait, buffer(16, 8))
		sub:add(g.hold, buffer(28, 4))
		pinfo.cols.info = string.format("FLOWS of group %u", buffer(12, 2):uint())
		return FRAME_LENGTH
	end
	local root = name(buffer(12, 6))

	sub:add(g.root, buffer(12, 6), root)
	sub:add(g.distance, buffer(18, 1))
	if kind == MERGE then
		sub:add(g.into, buffer(20, 6), name(buffer(20, 6)))
	end
	sub:add(g.hold, buffer(28, 4))
	sub:add(g.held, buffer(32, 4))
	sub:add(g.threshold, buffer(36, 4))
	pinfo.cols.info = string.format("%s root %s", types[kind], root)
	return FRAME_LENGTH
end

DissectorTable.get("ethertype"):add(FRAME_ETHERTYPE, fabric)
