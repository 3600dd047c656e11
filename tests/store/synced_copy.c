/* Keeps a copy of a folder as a disk would have it if the power were cut: every file as it was at its last fsync.
 *
 * Preloaded into the processes of a PostgreSQL server (LD_PRELOAD). SYNCED_FROM is the server's folder, SYNCED_TO the
 * copy, SYNCED_LOCK a file that is locked (shared) while the copy changes: who locks it exclusively sees the copy at one
 * instant, and no fsync returns meanwhile. Renaming and deleting take effect at once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char *from, *to, *lock_file;

/* Copied: the server writes its process title over the environment. */
__attribute__((constructor)) static void begin(void) {
    if (getenv("SYNCED_FROM") == NULL) return;
    from = strdup(getenv("SYNCED_FROM"));
    to = strdup(getenv("SYNCED_TO"));
    lock_file = strdup(getenv("SYNCED_LOCK"));
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static int locked(void) {
    int lock = open(lock_file, O_RDWR | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_SH) != 0) abort();
    return lock;
}

/* The path in the copy; 0 if the file is outside the folder. Relative paths begin at the folder. */
static int place(const char *path, char *copy) {
    size_t length = strlen(from);
    if (path[0] != '/') return snprintf(copy, PATH_MAX, "%s/%s", to, path) < PATH_MAX;
    if (strncmp(path, from, length) != 0 || path[length] != '/') return 0;
    return snprintf(copy, PATH_MAX, "%s%s", to, path + length) < PATH_MAX;
}

static void make_folders(char *path) {
    for (char *slash = path + strlen(to) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void copy_file(int fd) {
    char link[64], path[PATH_MAX], target[PATH_MAX], fresh[PATH_MAX + 32];
    static char buffer[1 << 20];
    struct stat status;
    if (from == NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    if (!place(path, target)) return;
    int lock = locked();
    make_folders(target);
    snprintf(fresh, sizeof fresh, "%s.%d", target, (int)getpid());
    int in = open(link, O_RDONLY), out = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0) abort();
    while ((length = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, length) != length) abort();
    close(in);
    close(out);
    if (((int (*)(const char *, const char *))real("rename"))(fresh, target) != 0) abort();
    close(lock);
}

int fsync(int fd) {
    int done = ((int (*)(int))real("fsync"))(fd);
    if (done == 0) copy_file(fd);
    return done;
}

int fdatasync(int fd) {
    int done = ((int (*)(int))real("fdatasync"))(fd);
    if (done == 0) copy_file(fd);
    return done;
}

int rename(const char *old, const char *new) {
    int (*call)(const char *, const char *) = real("rename");
    char before[PATH_MAX], after[PATH_MAX];
    if (from == NULL || !place(old, before) || !place(new, after)) return call(old, new);
    int lock = locked(), done = call(old, new);
    if (done == 0) {
        make_folders(after);
        call(before, after);
    }
    close(lock);
    return done;
}

int unlink(const char *path) {
    int (*call)(const char *) = real("unlink");
    char copy[PATH_MAX];
    if (from == NULL || !place(path, copy)) return call(path);
    int lock = locked(), done = call(path);
    if (done == 0) call(copy);
    close(lock);
    return done;
}
