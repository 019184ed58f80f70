// SPDX-License-Identifier: GPL-2.0
/* Files that commands write. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the text and closes the stream. Return: 0, or errno. */
static int fill(FILE *out, const char *text)
{
	int err = 0;

	/* of devices and pipes nothing is to be on the disk */
	if (fputs(text, out) < 0 || fflush(out) || (fsync(fileno(out)) && errno != EINVAL))
		err = errno;
	if (fclose(out) && !err)
		err = errno;
	return err;
}

/* A file without a name, for a child to write and this process to read. Where nothing can be
 * written, too. Ends the program if there is none.
 */
FILE *file_for_child(void)
{
	int fd = memfd_create("fairlane", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+e");

	if (!f)
		fail_kernel("a temporary file: %s", strerror(errno));
	return f;
}

/* A new file takes the place of @path when it is complete: with the mode and, if that is ours to
 * give, the owner of @was, the old one; NULL: there is none. Return: 0, or errno.
 */
static int replace(const char *path, const char *text, mode_t mode, const struct stat *was)
{
	char *part = xprintf("%s.%d", path, getpid());
	FILE *out;
	int err;

	/* others may write in that folder, too: no link of theirs is followed */
	unlink(part);
	out = fopen(part, "wxe");
	/* before there is anything in it to be read */
	if (out && was && fchown(fileno(out), was->st_uid, was->st_gid))
		errno = 0;
	if (was)
		mode = was->st_mode & 07777;
	if (!out || ((was || mode) && fchmod(fileno(out), mode)))
		err = errno;
	else
		err = fill(out, text);
	if (!err && rename(part, path))
		err = errno;
	if (out && err)
		unlink(part);
	free(part);
	return err;
}

static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && out.st_dev == st->st_dev &&
	       out.st_ino == st->st_ino;
}

/**
 * write_text() - make a text the contents of a file
 * @path: the file
 * @text: the text
 * @mode: of a file that is not there yet; 0: as the umask has it
 *
 * A reader sees the old contents or the new ones, never half of them. A file that is there
 * keeps its mode, and links to it stay. What is no file, such as a device or a pipe, or is what
 * the shell has opened (/dev/stdout), is written to. An error ends the program.
 */
void write_text(const char *path, const char *text, mode_t mode)
{
	struct stat st, link;
	bool there = !stat(path, &st);
	char *real;
	FILE *out;
	int err;

	if (there ? S_ISREG(st.st_mode) && !is_stdout(&st) :
		    errno == ENOENT && lstat(path, &link)) {
		real = there ? realpath(path, NULL) : xprintf("%s", path);
		err = real ? replace(real, text, mode, there ? &st : NULL) : errno;
		free(real);
	} else {
		out = fopen(path, "ae");
		err = out ? fill(out, text) : errno;
	}
	if (err)
		fail_kernel("%s: %s", path, strerror(err));
}
