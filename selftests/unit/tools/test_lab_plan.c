// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's reading of plan.json: a good plan arrives as written, each kind
 * of bad plan is refused with a sentence that names the place.
 */
#include "unit.h"

#include "../../../tools/lab/guest/json.c"
#include "../../../tools/lab/guest/plan.c"
#include "../../../tools/lab/guest/plan_check.c"
#include "../../../tools/lab/guest/plan_gates.c"
#include "../../../tools/lab/guest/plan_net.c"

/* CHECK_EQ for numbers of any integer type. */
#define CHECK_SAME(a, b)	CHECK_EQ((int64_t)(a), (int64_t)(b))

/* JSON with ' instead of ", to be freed. */
static char *quoted(const char *text)
{
	char *copy = strdup(text), *p;

	for (p = copy; p && *p; p++)
		if (*p == '\'')
			*p = '"';
	return copy;
}

/* Reads a plan written with '; error must have JSON_ERROR_MAX bytes. */
static struct plan *read_plan(const char *text, char *error)
{
	char *copy = quoted(text);
	struct plan *plan;

	error[0] = '\0';
	plan = plan_read(copy, strlen(copy), error, JSON_ERROR_MAX);
	free(copy);
	return plan;
}

#define HEAD "{'version':1,'out':'/o','end_ns':1000000,"
#define NODES "'nodes':[{'name':'a'},{'name':'b'}]"
#define LINE "'rate_bps':10000000000,'delay_ns':1000"
#define LINK "{'kind':'lablink','a':{'node':'a','dev':'x'," LINE \
	"},'b':{'node':'b','dev':'y'}}"
#define FLOW_ID(id, sport) "{'id':" #id ",'src':'a','dst':'b'," \
	"'src_addr':'10.0.0.1','dst_addr':'10.0.0.2','sport':" #sport \
	",'dport':10000,'start_ns':5,"
#define FLOW FLOW_ID(7, 20007)

/* A plan with every key, in pieces. */
static const char *const good_pieces[] = {
	HEAD,
	"'env':{'TC_LIB_DIR':'/lib/tc'},",
	"'modules':[{'path':'/m.ko','params':'a=1'},{'path':'/n.ko'}],",
	"'sysctl':[['net.core.wmem_max','1']],",
	"'nodes':[{'name':'a','sysctl':[['net.ipv4.ip_forward','1']]},{'name':'b'}],",
	"'links':[{'kind':'lablink','a':{'node':'a','dev':'x','mac':'02:00:00:00:00:fe',",
	"'mtu':1500,'rate_bps':100000000000,'delay_ns':2600,'overhead_bytes':20,",
	"'ring_pkts':2,'offload':true,'noise_ns':[0,5,5,90],'noise_seed':4294967295},",
	"'b':{'node':'b','dev':'y'}},",
	"{'kind':'veth','a':{'node':'a','dev':'v'},'b':{'node':'a','dev':'w'}}],",
	"'addr':[{'node':'a','dev':'x','addr':'10.0.0.1','bits':32}],",
	"'neigh':[{'node':'a','dev':'x','addr':'169.254.0.1','mac':'02:00:00:00:00:01'}],",
	"'route':[{'node':'a','dst':'0.0.0.0','bits':0,'src':'10.0.0.1','quickack':true,",
	"'hops':[{'dev':'x','via':'169.254.0.1'},{'dev':'v','via':'fe80::1'}]}],",
	"'ip':[{'node':'b','batch':['addr add 10.0.0.1/24 dev y','link show']}],",
	"'tc':[{'node':'a','batch':[]}],",
	"'taps':[{'tap':3,'node':'a','dev':'x'}],'tap_records_max':1000,",
	"'flows':[" FLOW_ID(9, 20009) "'cc':'prioplus','rcv_cc':null,'so_priority':3,",
	"'weight_milli':1000,'dscp':10,'stop_ns':-1,'bytes':1000,'connect':'at_start',",
	"'rcvbuf':100000,'sndbuf':200000,'deadline_us':1500,'quickack':true},",
	"{'id':2,'src':'b','dst':'a','src_addr':'fd00::1','dst_addr':'fd00::2',",
	"'sport':20002,'dport':10000,'start_ns':0,'stop_ns':4000}],",
	"'gates':[{'after':[9],'flows':[2],'delay_ns':70}],",
	"'events':[{'at_ns':1,'node':'b','argv':['tc','qdisc']},",
	"{'at_ns':2,'flows':[9],'so_priority':5,'cc':'cubic'},",
	"{'at_ns':3,'stop':[2,9]},{'at_ns':4,'node':null,'argv':['true']}],",
	"'sample':{'interval_ns':10000,'flows':[2,9]},",
	"'collect':[{'node':'b','argv':['tc','-s'],'file':'tc.json'}],",
	"'exec':null,'leak_check':true}",
};

/* The good plan in one piece, with ", to be freed. */
static char *good_text(void)
{
	size_t length = 1, i;
	char *text, *copy;

	for (i = 0; i < ARRAY_SIZE(good_pieces); i++)
		length += strlen(good_pieces[i]);
	text = calloc(1, length);
	for (i = 0; text && i < ARRAY_SIZE(good_pieces); i++)
		strcat(text, good_pieces[i]);
	copy = quoted(text);
	free(text);
	return copy;
}

/* Reads the good plan. */
static struct plan *read_good(char *error)
{
	char *text = good_text();
	struct plan *plan;

	error[0] = '\0';
	plan = plan_read(text, strlen(text), error, JSON_ERROR_MAX);
	free(text);
	return plan;
}

TEST(plan_good_top)
{
	char error[JSON_ERROR_MAX];
	struct plan *plan = read_good(error);

	CHECK_STR(error, "");
	REQUIRE(plan);
	CHECK_STR(plan->out, "/o");
	CHECK_SAME(plan->end_ns, 1000000);
	CHECK_SAME(plan->env.count, 1);
	CHECK_STR(PLAN_ITEM(struct plan_pair, plan->env, 0)->value, "/lib/tc");
	CHECK_SAME(plan->modules.count, 2);
	CHECK_STR(PLAN_ITEM(struct plan_module, plan->modules, 0)->params,
		  "a=1");
	CHECK(!PLAN_ITEM(struct plan_module, plan->modules, 1)->params);
	CHECK_SAME(plan->nodes.count, 2);
	CHECK_SAME(PLAN_ITEM(struct plan_node, plan->nodes, 0)->sysctl.count, 1);
	CHECK_SAME(plan->ip.count, 1);
	CHECK_SAME(PLAN_ITEM(struct plan_batch, plan->ip, 0)->node, 1);
	CHECK_SAME(PLAN_ITEM(struct plan_batch, plan->ip, 0)->lines.count, 2);
	CHECK_SAME(plan->taps.count, 1);
	CHECK_SAME(plan->tap_records_max, 1000);
	CHECK_SAME(plan->collect.count, 1);
	CHECK(!plan->exec.argv.count);
	CHECK(plan->leak_check);
	plan_free(plan);
}

TEST(plan_good_links)
{
	const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0xfe };
	char error[JSON_ERROR_MAX];
	struct plan *plan = read_good(error);
	const struct plan_link *link;

	REQUIRE(plan);
	REQUIRE(plan->links.count == 2);
	link = PLAN_ITEM(struct plan_link, plan->links, 0);
	CHECK_SAME(link->kind, PLAN_LABLINK);
	CHECK_MEM(link->end[0].mac.byte, mac, ETH_ALEN);
	CHECK_SAME(link->end[0].rate_bps, 100000000000LL);
	CHECK_SAME(link->end[0].noise_ns.count, 4);
	CHECK_SAME(((uint32_t *)link->end[0].noise_ns.items)[3], 90);
	CHECK_SAME(link->end[0].noise_seed, 4294967295LL);
	CHECK(link->end[0].offload);
	CHECK_SAME(link->end[1].overhead_bytes, LABLINK_OVERHEAD_DEFAULT);
	CHECK_SAME(link->end[1].ring_pkts, LABLINK_RING_DEFAULT);
	CHECK(!link->end[1].mac.given);
	CHECK_SAME(PLAN_ITEM(struct plan_link, plan->links, 1)->kind, PLAN_VETH);
	plan_free(plan);
}

TEST(plan_good_routes)
{
	char error[JSON_ERROR_MAX];
	struct plan *plan = read_good(error);
	const struct plan_route *route;

	REQUIRE(plan);
	REQUIRE(plan->addr.count == 1 && plan->neigh.count == 1 &&
		plan->route.count == 1);
	CHECK_SAME(PLAN_ITEM(struct plan_netaddr, plan->addr, 0)->bits, 32);
	CHECK_SAME(PLAN_ITEM(struct plan_neigh, plan->neigh, 0)->mac.byte[5], 1);
	route = PLAN_ITEM(struct plan_route, plan->route, 0);
	CHECK_SAME(route->dst.family, AF_INET);
	CHECK_SAME(route->src.v4.s_addr, htonl(0x0a000001));
	CHECK(route->quickack);
	REQUIRE(route->hops.count == 2);
	CHECK_STR(PLAN_ITEM(struct plan_hop, route->hops, 1)->dev, "v");
	CHECK_SAME(PLAN_ITEM(struct plan_hop, route->hops, 1)->via.family,
		   AF_INET6);
	plan_free(plan);
}

TEST(plan_good_flows)
{
	char error[JSON_ERROR_MAX];
	struct plan *plan = read_good(error);
	const struct plan_flow *flow;
	const struct plan_event *event;
	const struct plan_gate *gate;

	REQUIRE(plan);
	REQUIRE(plan->flows.count == 2 && plan->events.count == 4);
	/* sorted by id, events and samples refer to the place */
	flow = PLAN_ITEM(struct plan_flow, plan->flows, 0);
	CHECK_SAME(flow->id, 2);
	CHECK_SAME(flow->src_addr.family, AF_INET6);
	CHECK_SAME(flow->bytes, -1);
	CHECK_SAME(flow->stop_ns, 4000);
	CHECK_SAME(flow->weight_milli, 1000);
	CHECK_SAME(flow->connect, PLAN_CONNECT_EARLY);
	CHECK(!flow->cc);
	flow = PLAN_ITEM(struct plan_flow, plan->flows, 1);
	CHECK_SAME(flow->id, 9);
	CHECK_STR(flow->cc, "prioplus");
	CHECK(!flow->rcv_cc);
	CHECK_SAME(flow->dscp, 10);
	CHECK_SAME(flow->connect, PLAN_CONNECT_AT_START);
	REQUIRE(plan->gates.count == 1);
	gate = PLAN_ITEM(struct plan_gate, plan->gates, 0);
	CHECK_SAME(*PLAN_ITEM(int64_t, gate->after, 0), 1);
	CHECK_SAME(*PLAN_ITEM(int64_t, gate->flows, 0), 0);
	CHECK_SAME(gate->delay_ns, 70);
	event = PLAN_ITEM(struct plan_event, plan->events, 1);
	CHECK_SAME(*PLAN_ITEM(int64_t, event->flows, 0), 1);
	CHECK_SAME(event->so_priority, 5);
	event = PLAN_ITEM(struct plan_event, plan->events, 2);
	CHECK_SAME(*PLAN_ITEM(int64_t, event->stop, 0), 0);
	CHECK_SAME(event->so_priority, -1);
	event = PLAN_ITEM(struct plan_event, plan->events, 0);
	CHECK_SAME(event->node, 1);
	CHECK(!PLAN_ITEM(const char *, event->argv, 2)[0]);
	CHECK_SAME(PLAN_ITEM(struct plan_event, plan->events, 3)->node,
		   PLAN_NO_NODE);
	CHECK_SAME(PLAN_ITEM(int64_t, plan->sample.flows, 1)[0], 1);
	CHECK_SAME(plan_find_flow(plan, 3), -1);
	plan_free(plan);
}

/* A plan, and what the error must say. */
struct bad {
	const char *text, *says;
};

/* Every bad plan is refused, with the right words. */
static void check_bad(const struct bad *bad, size_t count)
{
	char error[JSON_ERROR_MAX];
	struct plan *plan;
	size_t i;

	for (i = 0; i < count; i++) {
		plan = read_plan(bad[i].text, error);
		CHECK_MSG(!plan, "accepted: %s", bad[i].text);
		CHECK_MSG(strstr(error, bad[i].says), "\"%s\" says \"%s\"",
			  bad[i].text, error);
		CHECK_MSG(!strncmp(error, "plan.json: ", 11), "\"%s\"", error);
		plan_free(plan);
	}
}

TEST(plan_bad_json)
{
	static const struct bad bad[] = {
		{ "", "not JSON" },
		{ "{'version':1\n 'out':1}", "line 2, column 2: not JSON" },
		{ HEAD NODES "} x", "not JSON" },
		{ "[]", "must be an object" },
		{ "{}", "key \"version\" is missing" },
		{ "{'version':2,'out':'/o'}", "version: 2 is not within 1..1" },
		{ "{'version':'1','out':'/o'}", "version: must be a number" },
		{ "{'version':1.5,'out':'/o'}", "1.5 is not a whole number" },
		{ "{'version':1e99,'out':'/o'}", "is not a whole number" },
		{ "{'version':1}", "key \"out\" is missing" },
		{ "{'version':1,'out':7}", "out: must be a string" },
		{ HEAD "'wat':1}", "unknown key \"wat\"" },
		{ HEAD "'end_ns':2}", "key \"end_ns\" stands twice" },
		{ HEAD "'leak_check':1}", "leak_check: must be true or false" },
		{ HEAD "'env':[]}", "env: must be an object" },
		{ HEAD "'env':{'A':1}}", "env.A: must be a string" },
		{ HEAD "'env':{'A=B':'1'}}", "env.A=B: is no name" },
		{ HEAD "'modules':[{'params':''}]}",
		  "modules[0]: key \"path\" is missing" },
		{ HEAD "'sysctl':[['a']]}", "sysctl[0]: must be [\"name\"" },
		{ HEAD "'sysctl':[['a',1]]}", "sysctl[0]: must be [\"name\"" },
		{ HEAD "'sysctl':[['../x','1']]}", "is no name" },
		{ HEAD "'sysctl':[{'a':'b','c':'d'}]}", "sysctl[0]: must be [" },
	};

	check_bad(bad, ARRAY_SIZE(bad));
}

TEST(plan_bad_network)
{
	static const struct bad bad[] = {
		{ HEAD "'nodes':[{'name':'a'},{'name':'a'}]}",
		  "nodes[1]: second node \"a\"" },
		{ HEAD "'nodes':[{'name':'../a'}]}", "is no name of a node" },
		{ HEAD "'nodes':[{'name':''}]}", "is no name of a node" },
		{ HEAD NODES ",'links':[{'kind':'wire'}]}",
		  "links[0].kind: \"wire\" is neither" },
		{ HEAD NODES ",'links':[{'kind':'veth','a':{'node':'c'}}]}",
		  "links[0].a.node: there is no node \"c\"" },
		{ HEAD NODES ",'links':[" LINK "," LINK "]}",
		  "links[1]: second device \"x\"" },
		{ HEAD NODES ",'links':[{'kind':'veth','a':{'node':'a','dev':'x'}}]}",
		  "links[0]: key \"b\" is missing" },
		{ HEAD NODES ",'links':[{'kind':'veth','a':{'node':'a','dev':'x'," LINE
		  "},'b':{'node':'b','dev':'x'}}]}", "a veth has no rate_bps" },
		{ HEAD NODES
		  ",'links':[{'kind':'veth','a':{'node':'a','dev':'abcdefghijklmnop'}}]}",
		  "links[0].a.dev: \"abcdefghijklmnop\" is no" },
		{ HEAD NODES ",'links':[{'kind':'veth','a':{'node':'a','dev':'a b'}}]}",
		  "is no device name" },
		{ HEAD NODES
		  ",'links':[{'kind':'veth','a':{'node':'a','dev':'x','mac':'02:00:00:00:00'}}]}",
		  "is no Ethernet address" },
		{ HEAD NODES
		  ",'links':[{'kind':'veth','a':{'node':'a','dev':'x','mac':'03:00:00:00:00:00'}}]}",
		  "is a group address" },
		{ HEAD NODES
		  ",'links':[{'kind':'lablink','a':{'node':'a','dev':'x','noise_ns':[1,3,2]}}]}",
		  "noise_ns: quantile 2 falls" },
		{ HEAD NODES
		  ",'links':[{'kind':'lablink','a':{'node':'a','dev':'x','noise_ns':[1]}}]}",
		  "1 quantiles, may be 2.." },
		{ HEAD NODES
		  ",'links':[{'kind':'lablink','a':{'node':'a','dev':'x','rate_bps':-1}}]}",
		  "rate_bps: -1 is not within" },
		{ HEAD NODES
		  ",'links':[{'kind':'lablink','a':{'node':'a','dev':'lo'},'b':{'node':'b','dev':'y'}}]}",
		  "\"lo\" exists" },
		{ HEAD NODES ",'ip':[{'node':'a','batch':['a\\nb']}]}",
		  "ip[0].batch[0]: is more than one line" },
		{ HEAD NODES ",'tc':[{'node':'a'}]}", "key \"batch\" is missing" },
		{ HEAD NODES ",'taps':[{'tap':0,'node':'a','dev':'x'}]}",
		  "taps[0]: no link has device \"x\"" },
		{ HEAD NODES
		  ",'links':[" LINK "],'taps':[{'tap':0,'node':'a','dev':'x'},{'tap':0,'node':'b','dev':'y'}]}",
		  "taps[1]: second tap 0" },
		{ HEAD "'tap_records_max':0}", "tap_records_max: 0 is not within" },
		{ HEAD NODES ",'addr':[{'node':'a','dev':'x','addr':'10.0.0','bits':32}]}",
		  "addr[0].addr: \"10.0.0\" is no IP address" },
		{ HEAD NODES ",'neigh':[{'node':'a','dev':'x','addr':'10.0.0.1'}]}",
		  "neigh[0]: key \"mac\" is missing" },
		{ HEAD NODES ",'route':[{'node':'a','dst':'10.0.0.1','bits':32,'hops':[]}]}",
		  "route[0]: has no hops" },
	};

	check_bad(bad, ARRAY_SIZE(bad));
}

TEST(plan_bad_flows)
{
	static const struct bad bad[] = {
		{ HEAD NODES ",'flows':[{'id':1}]}",
		  "flows[0]: key \"src\" is missing" },
		{ HEAD NODES ",'flows':[" FLOW "'bytes':0}]}", "bytes is 0" },
		{ HEAD NODES ",'flows':[" FLOW "'bytes':-2}]}",
		  "flows[0].bytes: -2 is not within" },
		{ HEAD NODES ",'flows':[" FLOW "'stop_ns':5}]}",
		  "stop_ns 5 is not after start_ns 5" },
		{ HEAD NODES ",'flows':[" FLOW "'dscp':64}]}",
		  "dscp: 64 is not within 0..63" },
		{ HEAD NODES ",'flows':[" FLOW "'connect':'soon'}]}",
		  "\"soon\" is neither early nor at_start" },
		{ HEAD NODES ",'flows':[" FLOW "'cc':''}]}",
		  "is no congestion control" },
		{ HEAD NODES ",'flows':[" FLOW "'cc':'abcdefghijklmnop'}]}",
		  "is no congestion control" },
		{ HEAD NODES ",'flows':[" FLOW "'cc':'x'}," FLOW_ID(7, 20008)
		  "'cc':'x'}]}", "two flows have id 7" },
		{ HEAD NODES ",'flows':[" FLOW "'cc':'x'}," FLOW_ID(8, 20007)
		  "'cc':'x'}]}", "have the same addresses and ports" },
		{ HEAD NODES ",'flows':[{'id':1,'src':'a','dst':'b','src_addr':'10.0.0'}]}",
		  "src_addr: \"10.0.0\" is no IP address" },
		{ HEAD NODES
		  ",'flows':[{'id':1,'src':'a','dst':'b','src_addr':'10.0.0.1','dst_addr':'fd00::1','sport':1,'dport':1,'start_ns':0}]}",
		  "different families" },
		{ HEAD NODES
		  ",'flows':[{'id':1,'src':'a','dst':'b','src_addr':'10.0.0.1','dst_addr':'10.0.0.2','sport':65536}]}",
		  "65536 is not within" },
		{ HEAD NODES
		  ",'flows':[{'id':1,'src':'a','dst':'b','src_addr':'10.0.0.1','dst_addr':'10.0.0.2','sport':1,'dport':1,'start_ns':1000001}]}",
		  "start_ns 1000001 is after end_ns" },
	};

	check_bad(bad, ARRAY_SIZE(bad));
}

#define TWO ",'flows':[" FLOW "'bytes':5}," FLOW_ID(8, 20008) "'bytes':5}]"

TEST(plan_bad_gates)
{
	static const struct bad bad[] = {
		{ HEAD NODES TWO ",'gates':[{'after':[7]}]}",
		  "gates[0]: key \"flows\" is missing" },
		{ HEAD NODES TWO ",'gates':[{'after':[],'flows':[8]}]}",
		  "gates[0]: after and flows must not be empty" },
		{ HEAD NODES TWO ",'gates':[{'after':[7],'flows':[]}]}",
		  "gates[0]: after and flows must not be empty" },
		{ HEAD NODES TWO ",'gates':[{'after':[6],'flows':[8]}]}",
		  "gates[0].after: there is no flow 6" },
		{ HEAD NODES TWO ",'gates':[{'after':[7],'flows':[9]}]}",
		  "gates[0].flows: there is no flow 9" },
		{ HEAD NODES TWO ",'gates':[{'after':[7],'flows':[8],'delay_ns':-1}]}",
		  "gates[0].delay_ns: -1 is not within" },
		{ HEAD NODES TWO ",'gates':[{'after':[7],'flows':[8]},{'after':[7],'flows':[8]}]}",
		  "gates[1]: flow 8 waits for two gates" },
		{ HEAD NODES TWO ",'gates':[{'after':[7,8],'flows':[8]}]}",
		  "gates[0]: waits for its own flows" },
		{ HEAD NODES TWO ",'gates':[{'after':[7],'flows':[8]},{'after':[8],'flows':[7]}]}",
		  "gates[0]: waits for its own flows" },
		{ HEAD NODES ",'flows':[" FLOW "'stop_ns':9}," FLOW_ID(8, 20008)
		  "'bytes':5}],'gates':[{'after':[7],'flows':[8]}]}",
		  "gates[0]: flow 7 has no bytes" },
	};

	check_bad(bad, ARRAY_SIZE(bad));
}

TEST(plan_bad_events)
{
	static const struct bad bad[] = {
		{ HEAD NODES ",'events':[{'at_ns':1}]}",
		  "events[0]: needs exactly one of" },
		{ HEAD NODES ",'events':[{'at_ns':1,'argv':[]}]}",
		  "events[0].argv: needs a command" },
		{ HEAD NODES ",'events':[{'at_ns':1,'argv':['']}]}",
		  "needs a command" },
		{ HEAD NODES ",'events':[{'at_ns':1,'argv':['x'],'stop':[1]}]}",
		  "needs exactly one of" },
		{ HEAD NODES ",'events':[{'at_ns':1,'stop':[1]}]}",
		  "events[0].stop: there is no flow 1" },
		{ HEAD NODES ",'events':[{'at_ns':1,'flows':[1],'cc':'x'}]}",
		  "events[0].flows: there is no flow 1" },
		{ HEAD NODES ",'events':[{'at_ns':1,'flows':[1]}]}",
		  "flows needs so_priority" },
		{ HEAD NODES ",'events':[{'at_ns':1,'argv':['x'],'cc':'y'}]}",
		  "flows needs so_priority" },
		{ HEAD NODES ",'events':[{'at_ns':1,'node':'a','stop':[1]}]}",
		  "node goes with argv only" },
		{ HEAD NODES ",'events':[{'at_ns':1000001,'argv':['x']}]}",
		  "at_ns 1000001 is after end_ns" },
		{ HEAD "'sample':{'interval_ns':0,'flows':[]}}",
		  "sample.interval_ns: 0 is not within" },
		{ HEAD "'sample':{'interval_ns':1000,'flows':[4]}}",
		  "sample.flows: there is no flow 4" },
		{ HEAD "'collect':[{'argv':['x'],'file':'a/b'}]}",
		  "collect[0].file: \"a/b\" must be a plain" },
		{ HEAD "'collect':[{'argv':['x'],'file':'status'}]}",
		  "is written by the lab" },
		{ HEAD "'collect':[{'argv':['x'],'file':'y'},{'argv':['x'],'file':'y'}]}",
		  "collect[1]: second file \"y\"" },
		{ HEAD NODES ",'flows':[" FLOW "'cc':'x'}],'exec':{'argv':['x']}}",
		  "exec excludes flows" },
		{ HEAD "'exec':{'node':null}}",
		  "exec: key \"argv\" is missing" },
	};

	check_bad(bad, ARRAY_SIZE(bad));
}

/* A plan cut off anywhere is refused; ASan watches over the reading. */
TEST(plan_cut_off)
{
	char *text = good_text(), error[JSON_ERROR_MAX];
	size_t length;

	for (length = 0; length < strlen(text); length++) {
		char *copy = malloc(length + 1);
		struct plan *plan;

		memcpy(copy, text, length);
		plan = plan_read(copy, length, error, sizeof(error));
		CHECK_MSG(!plan && strstr(error, "not JSON"),
			  "cut at %zu: %s", length, error);
		plan_free(plan);
		free(copy);
	}
	free(text);
}

/* A plan with one wrong character is read or refused, never worse. */
TEST(plan_one_character_off)
{
	static const char instead[] = "\"0{}[]:,x-\\ e";
	char *text = good_text(), error[JSON_ERROR_MAX], kept;
	size_t length = strlen(text), i, j, refused = 0;
	struct plan *plan;

	for (i = 0; i < length; i++) {
		kept = text[i];
		for (j = 0; j < sizeof(instead) - 1; j++) {
			text[i] = instead[j];
			error[0] = '\0';
			plan = plan_read(text, length, error, sizeof(error));
			CHECK_MSG(!plan == !!error[0], "at %zu: %s", i, error);
			refused += !plan;
			plan_free(plan);
		}
		text[i] = kept;
	}
	CHECK_GT(refused, length);
	free(text);
}

TEST(plan_out_of_a_wrong_plan)
{
	char *text = quoted("{'wat':1,'out':'/there'}"), *out;

	out = plan_read_out(text, strlen(text));
	CHECK_STR(out, "/there");
	free(out);
	CHECK(!plan_read_out("{}", 2));
	CHECK(!plan_read_out("{", 1));
	CHECK(!plan_read_out("[3]", 3));
	free(text);
}

UNIT_MAIN
