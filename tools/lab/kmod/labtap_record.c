// SPDX-License-Identifier: GPL-2.0
/*
 * labtap: the records in memory; /proc/labtap and /proc/labtap_stats.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "labtap_priv.h"

#ifndef __LITTLE_ENDIAN
#error "struct labtap_rec is written as it is in memory, little endian"
#endif

#define LABTAP_COMMAND_MAX 64

/* Guards the start, stop and reading of records, not their writing. */
static DEFINE_MUTEX(labtap_mutex);
static struct labtap_rec *labtap_recs;
static u32 labtap_max_records;
static bool labtap_running;
/* packets seen since the start, also those that found no room */
static atomic64_t labtap_seen;

/* Records that are in memory. */
static u64 labtap_records(void)
{
	return min_t(u64, atomic64_read(&labtap_seen), labtap_max_records);
}

/**
 * labtap_store() - keep a record, or count that there is no room
 * @rec: copied
 *
 * Called by the probes, which run only while the memory is there. Any context.
 */
void labtap_store(const struct labtap_rec *rec)
{
	u64 i = atomic64_inc_return(&labtap_seen) - 1;

	if (likely(i < labtap_max_records))
		labtap_recs[i] = *rec;
}

/* Make room for records and begin. Under labtap_mutex. */
static int labtap_start(u32 max_records)
{
	struct labtap_rec *recs;
	int err;

	if (labtap_running)
		return -EBUSY;
	if (!max_records || max_records > LABTAP_RECORDS_MAX)
		return -ERANGE;
	if (max_records != labtap_max_records) {
		recs = __vmalloc(array_size(max_records, sizeof(*recs)),
				 GFP_KERNEL | __GFP_NOWARN);
		if (!recs)
			return -ENOMEM;
		vfree(labtap_recs);
		labtap_recs = recs;
		labtap_max_records = max_records;
	}
	atomic64_set(&labtap_seen, 0);
	err = labtap_probes_attach();
	if (!err)
		labtap_running = true;
	return err;
}

/* No more records from now on. Under labtap_mutex. */
static void labtap_stop(void)
{
	if (labtap_running)
		labtap_probes_detach();
	labtap_running = false;
}

/* Give the memory back. Under labtap_mutex. */
static int labtap_free(void)
{
	if (labtap_running)
		return -EBUSY;
	vfree(labtap_recs);
	labtap_recs = NULL;
	labtap_max_records = 0;
	atomic64_set(&labtap_seen, 0);
	return 0;
}

/* A command written to /proc/labtap; see labtap.h. Process context. */
static ssize_t labtap_write(struct file *file, const char __user *user,
			    size_t size, loff_t *pos)
{
	char buffer[LABTAP_COMMAND_MAX], *text;
	u32 max_records;
	int err = 0;

	if (size >= sizeof(buffer))
		return -EINVAL;
	if (copy_from_user(buffer, user, size))
		return -EFAULT;
	buffer[size] = '\0';
	text = strim(buffer);

	mutex_lock(&labtap_mutex);
	if (!strcmp(text, "stop"))
		labtap_stop();
	else if (!strcmp(text, "free"))
		err = labtap_free();
	else if (strncmp(text, "start ", 6))
		err = -EINVAL;
	else
		err = kstrtou32(text + 6, 10, &max_records) ?:
			labtap_start(max_records);
	mutex_unlock(&labtap_mutex);
	return err ?: size;
}

/* Read records. Process context. */
static ssize_t labtap_read(struct file *file, char __user *user, size_t size,
			   loff_t *pos)
{
	ssize_t ret = -EBUSY;

	mutex_lock(&labtap_mutex);
	if (!labtap_running)
		ret = simple_read_from_buffer(user, size, pos, labtap_recs,
					      labtap_records() *
					      sizeof(*labtap_recs));
	mutex_unlock(&labtap_mutex);
	return ret;
}

static const struct proc_ops labtap_proc_ops = {
	.proc_read = labtap_read,
	.proc_write = labtap_write,
	.proc_lseek = default_llseek,
};

/* Print what labtap.h promises for /proc/labtap_stats. Process context. */
static int labtap_stats_show(struct seq_file *seq, void *unused)
{
	u64 records;

	mutex_lock(&labtap_mutex);
	records = labtap_records();
	seq_printf(seq, "running %d\nrecords %llu\noverflow %llu\n"
		   "max_records %u\n", labtap_running, records,
		   (u64)atomic64_read(&labtap_seen) - records,
		   labtap_max_records);
	mutex_unlock(&labtap_mutex);
	return 0;
}

/**
 * labtap_record_init() - make the files in /proc
 *
 * Module init. Return: 0 or -errno.
 */
int labtap_record_init(void)
{
	if (!proc_create("labtap", 0600, NULL, &labtap_proc_ops))
		return -ENOMEM;
	if (!proc_create_single("labtap_stats", 0444, NULL,
				labtap_stats_show)) {
		remove_proc_entry("labtap", NULL);
		return -ENOMEM;
	}
	return 0;
}

/**
 * labtap_record_exit() - stop and forget everything
 *
 * Module exit.
 */
void labtap_record_exit(void)
{
	remove_proc_entry("labtap_stats", NULL);
	remove_proc_entry("labtap", NULL);
	labtap_stop();
	vfree(labtap_recs);
}

static int __init labtap_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct labtap_rec) != 32);
	err = labtap_probes_find();
	if (err)
		return err;
	err = labtap_taps_init();
	if (err)
		return err;
	err = labtap_record_init();
	if (err)
		labtap_taps_exit();
	return err;
}

static void __exit labtap_exit(void)
{
	labtap_record_exit();
	labtap_taps_exit();
}

module_init(labtap_init);
module_exit(labtap_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fairlane lab: packet recorder");
