-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark and tshark: Fairlane's telemetry option in TCP segments
-- (Documentation/telemetry.rst). Copy it to the folder of personal Lua plugins,
-- or: tshark -X lua_script:tools/wireshark/fairlane.lua
--
-- fairlane.delay	largest queueing delay that this segment met, ns
-- fairlane.echo	what the peer's data met, ns; absent if it tells nothing
-- fairlane.saturated	the delay is larger than the option can tell

local EXID = 0x464c
local LENGTH = 8
local UNIT_NS = 16
local MAX = 0xfffe
local NO_ECHO = 0xffff

local fairlane = Proto("fairlane", "Fairlane telemetry")
local f = fairlane.fields
f.delay = ProtoField.uint32("fairlane.delay", "Queueing delay (ns)", base.DEC)
f.echo = ProtoField.uint32("fairlane.echo", "Echoed delay (ns)", base.DEC)
f.saturated = ProtoField.bool("fairlane.saturated", "Delay saturated")
local malformed = ProtoExpert.new("fairlane.malformed", "Malformed telemetry option",
	expert.group.MALFORMED, expert.severity.ERROR)
fairlane.experts = { malformed }

local tcp_header = Field.new("tcp.hdr_len")
local tcp_source = Field.new("tcp.srcport")

-- Adds the option at the offset of the header to the tree.
local function show(option, tree)
	local sub = tree:add(fairlane, option)
	local delay = option(4, 2):uint()
	local echo = option(6, 2):uint()

	sub:add(f.delay, option(4, 2), delay * UNIT_NS)
	if delay >= MAX then
		sub:add(f.saturated, option(4, 2), true)
	end
	if echo ~= NO_ECHO then
		sub:add(f.echo, option(6, 2), echo * UNIT_NS)
		sub:append_text(string.format(", delay %d ns, echo %d ns",
			delay * UNIT_NS, echo * UNIT_NS))
	else
		sub:append_text(string.format(", delay %d ns", delay * UNIT_NS))
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
			if kind == 253 and length >= 4 and header(at + 2, 2):uint() == EXID then
				if length == LENGTH then
					show(header(at, length), tree)
				else
					tree:add_proto_expert_info(malformed)
				end
				return
			end
			at = at + length
		end
	end
end

-- A postdissector sees the segment when TCP is done with it.
function fairlane.dissector(buffer, _, tree)
	local length, source = tcp_header(), tcp_source()

	if not length or not source or length.value < 28 then
		return
	end
	local start = source.offset

	if start + length.value <= buffer:len() then
		walk(buffer(start, length.value), tree)
	end
end

register_postdissector(fairlane)
