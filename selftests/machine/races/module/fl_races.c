// SPDX-License-Identifier: GPL-2.0
/*
 * A data race on purpose: two threads count in one variable for a second, on two processors.
 * Who looks for races has to see it.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>

static unsigned long counted;
static struct task_struct *threads[2];

static int count(void *unused)
{
	while (!kthread_should_stop()) {
		counted++;
		cond_resched();
	}
	return 0;
}

static int __init races_init(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		threads[i] = kthread_create(count, NULL, "fl_races/%d", i);
		if (IS_ERR(threads[i])) {
			if (i)
				kthread_stop(threads[0]);
			return PTR_ERR(threads[i]);
		}
		kthread_bind(threads[i], i % num_online_cpus());
		wake_up_process(threads[i]);
	}
	msleep(1000);
	for (i = 0; i < 2; i++)
		kthread_stop(threads[i]);
	return 0;
}

static void __exit races_exit(void)
{
	pr_info("%lu counted\n", counted);
}

module_init(races_init);
module_exit(races_exit);

MODULE_DESCRIPTION("A data race on purpose");
MODULE_AUTHOR("The Fairlane developers");
MODULE_LICENSE("GPL");
