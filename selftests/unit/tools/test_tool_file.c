// SPDX-License-Identifier: GPL-2.0
/* Files that the command fairlane writes: what is replaced, what is written to, and what an
 * old file keeps. In a folder of its own.
 */
#include "unit.h"

#include "../../../tools/fairlane/file.c"
#include "../../../tools/fairlane/words.c"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

static char *folder;

static void begin(void)
{
	folder = xprintf("%s/test_tool_file.XXXXXX", P_tmpdir);
	REQUIRE(mkdtemp(folder) && !chdir(folder));
	umask(022);
}

/* Removes the folder. Return: how many files were in it. */
static int end(void)
{
	DIR *dir = opendir(".");
	struct dirent *d;
	int n = 0;

	while (dir && (d = readdir(dir)))
		n += d->d_name[0] != '.' && !unlink(d->d_name);
	closedir(dir);
	CHECK(!chdir("/") && !rmdir(folder));
	free(folder);
	return n;
}

/* In a process of its own, as an error ends it. Return: its exit code. */
static int writes(const char *path, const char *text, mode_t mode)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		fclose(stderr);
		write_text(path, text, mode);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_file(const char *path, const char *text, mode_t mode)
{
	char *has = read_text(path);
	struct stat st = { 0 };

	CHECK_STR(has ? has : "(none)", text);
	lstat(path, &st);
	CHECK_EQ(st.st_mode, S_IFREG | mode);
	free(has);
}

TEST(new_and_old_files)
{
	struct stat before, after;

	begin();
	CHECK_EQ(writes("a", "one\n", 0), 0);
	check_file("a", "one\n", 0644);
	chmod("a", 0600);
	stat("a", &before);
	CHECK_EQ(writes("a", "two\n", 0644), 0);
	check_file("a", "two\n", 0600);
	/* whoever has the old one open sees all of it */
	stat("a", &after);
	CHECK(before.st_ino != after.st_ino);
	umask(077);
	CHECK_EQ(writes("b", "", 0), 0);
	check_file("b", "", 0600);
	CHECK_EQ(writes("c", "x", 0644), 0);
	check_file("c", "x", 0644);
	CHECK_EQ(writes("no/such/folder", "x", 0), EXIT_KERNEL);
	CHECK_EQ(end(), 3);
}

TEST(links)
{
	struct stat st;

	begin();
	CHECK_EQ(writes("file", "one\n", 0), 0);
	CHECK(!symlink("file", "link") && !symlink("nothing", "dangling"));
	CHECK_EQ(writes("link", "two\n", 0), 0);
	CHECK(!lstat("link", &st) && S_ISLNK(st.st_mode));
	check_file("file", "two\n", 0644);
	CHECK_EQ(writes("dangling", "three\n", 0), 0);
	CHECK(!lstat("dangling", &st) && S_ISLNK(st.st_mode));
	check_file("nothing", "three\n", 0644);
	CHECK_EQ(end(), 4);
}

TEST(no_files)
{
	char text[8] = "";
	struct stat st;
	int fd;

	begin();
	/* a link, so that root's /dev stays as it is even if this fails */
	CHECK(!symlink("/dev/null", "null") && !symlink("/dev/full", "full"));
	CHECK_EQ(writes("null", "x", 0), 0);
	CHECK_EQ(writes("full", "x", 0), EXIT_KERNEL);
	CHECK(!mkfifo("pipe", 0600));
	fd = open("pipe", O_RDWR);
	CHECK_EQ(writes("pipe", "x\n", 0), 0);
	CHECK(!lstat("pipe", &st) && S_ISFIFO(st.st_mode));
	CHECK_EQ((int)read(fd, text, sizeof(text)), 2);
	CHECK_STR(text, "x\n");
	close(fd);
	CHECK(!mkdir("folder", 0700));
	CHECK_EQ(writes("folder", "x", 0), EXIT_KERNEL);
	CHECK(!rmdir("folder"));
	CHECK_EQ(end(), 3);
}

/* What the shell has opened, which is more than what this program wrote. */
TEST(stdout_is_written_to)
{
	int saved = dup(STDOUT_FILENO), fd;

	begin();
	fflush(stdout);
	fd = open("out", O_RDWR | O_CREAT | O_APPEND, 0644);
	CHECK_EQ((int)write(fd, "before\n", 7), 7);
	dup2(fd, STDOUT_FILENO);
	CHECK_EQ(writes("/dev/stdout", "x\n", 0), 0);
	CHECK_EQ((int)write(fd, "after\n", 6), 6);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(fd);
	check_file("out", "before\nx\nafter\n", 0644);
	CHECK_EQ(end(), 1);
}

UNIT_MAIN
