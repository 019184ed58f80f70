// SPDX-License-Identifier: GPL-2.0
/*
 * A module that makes the mistake it is told to make (parameter "which"), to see
 * that the debug kernel and the lab's runner notice it. Never part of a build
 * that is installed.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *which = "";
module_param(which, charp, 0444);
MODULE_PARM_DESC(which, "overrun, use_after_free, deadlock, atomic_sleep, shift or leak");

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DEFINE_SPINLOCK(spin);

/* Write one byte behind an allocation. Context: process. */
static void overrun(void)
{
	char *text = kmalloc(100, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(text);
	if (text)
		text[100] = 1;
	kfree(text);
}

/* Write to what was given back. Context: process. */
static void use_after_free(void)
{
	char *text = kmalloc(100, GFP_KERNEL), *alias = text;

	OPTIMIZER_HIDE_VAR(alias);
	kfree(text);
	if (alias)
		alias[3] = 1;
}

/* Take two locks in both orders. Context: process. */
static void deadlock(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);
	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

/* Wait for memory with a spinlock held. Context: process. */
static void atomic_sleep(void)
{
	spin_lock(&spin);
	kfree(kmalloc(100, GFP_KERNEL));
	spin_unlock(&spin);
}

/* Shift by more bits than there are. Context: process. */
static void shift(void)
{
	int bits = 40;

	OPTIMIZER_HIDE_VAR(bits);
	pr_info("shifted: %d\n", 1 << bits);
}

/* Forget some allocations: one pointer may linger somewhere. Context: process. */
static void leak(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		char *text = kmalloc(500, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(text);
		if (text)
			text[0] = 1;
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "overrun", overrun },
	{ "use_after_free", use_after_free },
	{ "deadlock", deadlock },
	{ "atomic_sleep", atomic_sleep },
	{ "shift", shift },
	{ "leak", leak },
};

/* Make the mistake. Context: process. */
static int __init mistakes_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (!strcmp(which, mistakes[i].name)) {
			mistakes[i].make();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(mistakes_init);

static void __exit mistakes_exit(void)
{
}
module_exit(mistakes_exit);

MODULE_DESCRIPTION("Mistakes on demand, to test what notices them");
MODULE_LICENSE("GPL");
