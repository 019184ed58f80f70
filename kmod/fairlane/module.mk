# SPDX-License-Identifier: GPL-2.0
# What congestion controls share: settings, limits, policies, netlink, telemetry.
# What it cannot do without, said once and at the start. CONFIG_NET: not while cleaning.
ifdef CONFIG_NET
ifdef CONFIG_PREEMPT_RT
$(error fairlane: not for kernels with CONFIG_PREEMPT_RT, where its probes of tracepoints may not take locks)
endif
ifndef CONFIG_INET
$(error fairlane: the kernel lacks CONFIG_INET: there is no TCP)
endif
ifndef CONFIG_NETFILTER
$(error fairlane: the kernel lacks CONFIG_NETFILTER, through which setsockopt() and the telemetry option go)
endif
ifndef CONFIG_TRACEPOINTS
$(error fairlane: the kernel lacks CONFIG_TRACEPOINTS, which tell when sockets come and go)
endif
endif

obj-m += fairlane.o
fairlane-y := $(addprefix fairlane/,fl_main.o fl_profile.o fl_paths.o fl_speed.o fl_rtt.o fl_base_rtt.o) \
	      $(addprefix fairlane/,fl_sock.o fl_attr.o fl_limit.o fl_policy.o \
		fl_prefix.o fl_lookup.o fl_sockopt.o fl_event.o fl_trace.o fl_genl.o \
		fl_genl_flow.o fl_genl_limit.o fl_genl_policy.o fl_genl_profile.o fl_diag.o \
		fl_telemetry.o fl_option.o fl_message.o fl_hook.o fl_owd.o fl_off.o fl_inherit.o fl_segment.o \
		fl_late.o fl_drain.o fl_accept.o fl_guided.o fl_tracepoint.o) \
	      lib/owd.o lib/isqrt.o
