// SPDX-License-Identifier: GPL-2.0
/*
 * Text that grows, and files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "labinit.h"

/* Makes room for more bytes and a final zero. */
static void buffer_room(struct buffer *buffer, size_t more)
{
	size_t room = buffer->room ? buffer->room : 4096;

	while (room < buffer->length + more + 1)
		room *= 2;
	if (room == buffer->room)
		return;
	buffer->data = realloc(buffer->data, room);
	if (!buffer->data)
		lab_fail("no memory for %zu bytes of output", room);
	buffer->room = room;
}

void buffer_add(struct buffer *buffer, const void *data, size_t length)
{
	buffer_room(buffer, length);
	memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void buffer_printf(struct buffer *buffer, const char *fmt, ...)
{
	va_list args;
	int length;

	buffer_room(buffer, 512);
	va_start(args, fmt);
	length = vsnprintf(buffer->data + buffer->length,
			   buffer->room - buffer->length, fmt, args);
	va_end(args);
	if (length < 0)
		lab_fail("cannot format \"%s\"", fmt);
	if ((size_t)length >= buffer->room - buffer->length) {
		buffer_room(buffer, length);
		va_start(args, fmt);
		vsnprintf(buffer->data + buffer->length,
			  buffer->room - buffer->length, fmt, args);
		va_end(args);
	}
	buffer->length += length;
}

/* Adds all that a file has from its current position. */
void buffer_read_fd(struct buffer *buffer, int fd, const char *what)
{
	ssize_t got;

	do {
		buffer_room(buffer, 65536);
		got = read(fd, buffer->data + buffer->length, 65536);
		if (got < 0)
			lab_fail("cannot read %s: %s", what, strerror(errno));
		buffer->length += got;
	} while (got);
	buffer->data[buffer->length] = '\0';
}

/* Makes one line of several, for messages; never NULL. */
const char *buffer_one_line(struct buffer *buffer)
{
	size_t i;

	buffer_add(buffer, "", 0);
	while (buffer->length && buffer->data[buffer->length - 1] == '\n')
		buffer->data[--buffer->length] = '\0';
	for (i = 0; i < buffer->length; i++)
		if (buffer->data[i] == '\n')
			buffer->data[i] = ' ';
	return buffer->data;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

/* Writes everything; false and errno if that is not possible. */
static bool write_all(int fd, const char *data, size_t length)
{
	ssize_t done;

	while (length) {
		done = write(fd, data, length);
		if (done < 0)
			return false;
		data += done;
		length -= done;
	}
	return true;
}

/* Writes a file of results. */
void raw_write(const char *file, const void *data, size_t length)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), LAB_RAW_DIR "/%s", file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || !write_all(fd, data, length) || close(fd))
		lab_fail("cannot write raw/%s: %s", file, strerror(errno));
}

/* Writes a text into an existing file (procfs, sysfs). Returns -errno. */
int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (!write_all(fd, text, strlen(text)))
		error = -errno;
	if (close(fd) && !error)
		error = -errno;
	return error;
}
