// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's reading of plan.json: a good plan arrives as written, each kind
 * of bad plan is refused with a sentence that names the place.
 */
#include "unit.h"

#include "../../../tools/lab/guest/json.c"
#include "../../../tools/lab/guest/plan.c"

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

#define HEAD "{'out':'/o','end_ns':1000000,"
#define NODES "'nodes':[{'name':'a'},{'name':'b'}]"
#define FLOW_ID(id, sport) "{'id':" #id ",'src':'a','dst':'b'," \
	"'src_addr':'10.0.0.1','dst_addr':'10.0.0.2','sport':" #sport \
	",'dport':10000,'start_ns':5,"
#define FLOW FLOW_ID(0, 20007)
#define TWO ",'flows':[" FLOW "'bytes':5}," FLOW_ID(1, 20008) "'bytes':5}]"

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
	"'flows':[" FLOW_ID(0, 20009) "'cc':'prioplus','rcv_cc':null,'so_priority':3,",
	"'weight_milli':1000,'dscp':10,'stop_ns':-1,'bytes':1000,'connect':'at_start',",
	"'rcvbuf':100000,'sndbuf':200000,'deadline_us':1500,'quickack':true,'stock_buffers':true},",
	"{'id':1,'src':'b','dst':'a','src_addr':'fd00::1','dst_addr':'fd00::2',",
	"'sport':20002,'dport':10000,'start_ns':0,'stop_ns':4000}],",
	"'gates':[{'after':[0],'flows':[1],'delay_ns':70}],",
	"'events':[{'at_ns':1,'node':'b','argv':['tc','qdisc']},",
	"{'at_ns':2,'flows':[0],'so_priority':5,'cc':'cubic'},",
	"{'at_ns':3,'stop':[1,0]},{'at_ns':4,'node':null,'argv':['true']}],",
	"'sample':{'interval_ns':10000,'flows':[0,1]},",
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
	flow = PLAN_ITEM(struct plan_flow, plan->flows, 1);
	CHECK_SAME(flow->id, 1);
	CHECK_SAME(flow->src_addr.family, AF_INET6);
	CHECK_SAME(flow->bytes, -1);
	CHECK_SAME(flow->stop_ns, 4000);
	CHECK_SAME(flow->weight_milli, 1000);
	CHECK_SAME(flow->connect, PLAN_CONNECT_EARLY);
	CHECK(!flow->cc);
	CHECK(!flow->stock_buffers);
	flow = PLAN_ITEM(struct plan_flow, plan->flows, 0);
	CHECK(flow->stock_buffers);
	CHECK_SAME(flow->id, 0);
	CHECK_STR(flow->cc, "prioplus");
	CHECK(!flow->rcv_cc);
	CHECK_SAME(flow->dscp, 10);
	CHECK_SAME(flow->connect, PLAN_CONNECT_AT_START);
	REQUIRE(plan->gates.count == 1);
	gate = PLAN_ITEM(struct plan_gate, plan->gates, 0);
	CHECK_SAME(*PLAN_ITEM(int64_t, gate->after, 0), 0);
	CHECK_SAME(*PLAN_ITEM(int64_t, gate->flows, 0), 1);
	CHECK_SAME(gate->delay_ns, 70);
	event = PLAN_ITEM(struct plan_event, plan->events, 1);
	CHECK_SAME(*PLAN_ITEM(int64_t, event->flows, 0), 0);
	CHECK_SAME(event->so_priority, 5);
	event = PLAN_ITEM(struct plan_event, plan->events, 2);
	CHECK_SAME(*PLAN_ITEM(int64_t, event->stop, 0), 1);
	CHECK_SAME(event->so_priority, -1);
	event = PLAN_ITEM(struct plan_event, plan->events, 0);
	CHECK_SAME(event->node, 1);
	CHECK(!PLAN_ITEM(const char *, event->argv, 2)[0]);
	CHECK_SAME(PLAN_ITEM(struct plan_event, plan->events, 3)->node,
		   PLAN_NO_NODE);
	CHECK_SAME(PLAN_ITEM(int64_t, plan->sample.flows, 1)[0], 1);
	plan_free(plan);
}

/* A plan, and what the error must say. */
struct bad {
	const char *text, *says;
};

TEST(plan_bad)
{
	static const struct bad bad[] = {
		{ "", "not JSON" },
		{ "{'out':1\n 'end_ns':1}", "line 2, column 2: not JSON" },
		{ HEAD NODES "} x", "not JSON" },
		{ "[]", "must be an object" },
		{ "{}", "key \"out\" is missing" },
		{ "{'out':7}", "out: must be a string" },
		{ "{'out':'/o','end_ns':'1'}", "end_ns: must be a number" },
		{ "{'out':'/o','end_ns':1.5}", "1.5 is not a whole number" },
		{ "{'out':'/o','end_ns':1e99}", "is not a whole number" },
		{ HEAD "'wat':1}", "unknown key \"wat\"" },
		{ HEAD "'end_ns':2}", "key \"end_ns\" stands twice" },
		{ HEAD "'leak_check':1}", "leak_check: must be true or false" },
		{ HEAD "'env':[]}", "env: must be an object" },
		{ HEAD "'env':{'A':1}}", "env.A: must be a string" },
		{ HEAD "'modules':{}}", "modules: must be an array" },
		{ HEAD "'modules':[{'params':''}]}",
		  "modules[0]: key \"path\" is missing" },
		{ HEAD "'sysctl':[['a']]}", "sysctl[0]: must be [\"name\"" },
		{ HEAD "'sysctl':[['a',1]]}", "sysctl[0]: must be [\"name\"" },
		{ HEAD "'sysctl':[{'a':'b','c':'d'}]}", "sysctl[0]: must be [" },
		{ HEAD NODES ",'links':[{'kind':'wire'}]}",
		  "links[0].kind: \"wire\" is neither" },
		{ HEAD NODES ",'links':[{'kind':'veth','a':{'node':'c'}}]}",
		  "links[0].a.node: there is no node \"c\"" },
		{ HEAD NODES ",'neigh':[{'node':'a','dev':'x','addr':'10.0.0.1','mac':'02:00'}]}",
		  "neigh[0].mac: \"02:00\" is no Ethernet address" },
		{ HEAD NODES ",'addr':[{'node':'a','dev':'x','addr':'10.0.0','bits':32}]}",
		  "addr[0].addr: \"10.0.0\" is no IP address" },
		{ HEAD NODES ",'flows':[" FLOW "'connect':'soon'}]}",
		  "flows[0].connect: \"soon\" is neither early nor at_start" },
		{ HEAD NODES TWO ",'gates':[{'after':[1],'flows':[2]}]}",
		  "gates[0].flows[0]: there is no flow 2" },
		{ HEAD NODES ",'events':[{'at_ns':1,'stop':[-1]}]}",
		  "events[0].stop[0]: there is no flow -1" },
		{ HEAD "'sample':{'interval_ns':1000,'flows':[0]}}",
		  "sample.flows[0]: there is no flow 0" },
		{ HEAD NODES ",'events':[{'at_ns':1,'argv':[]}]}",
		  "events[0].argv: needs a command" },
		{ HEAD "'exec':{'node':null}}",
		  "exec: key \"argv\" is missing" },
	};
	char error[JSON_ERROR_MAX];
	struct plan *plan;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		plan = read_plan(bad[i].text, error);
		CHECK_MSG(!plan, "accepted: %s", bad[i].text);
		CHECK_MSG(strstr(error, bad[i].says), "\"%s\" says \"%s\"",
			  bad[i].text, error);
		CHECK_MSG(!strncmp(error, "plan.json: ", 11), "\"%s\"", error);
		plan_free(plan);
	}
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
