/*
 * Makes fdatasync(2) and fsync(2) of one file fail as Linux does after a failed writeback: once, and never again.
 *
 *   cc -shared -fPIC -o failing-fdatasync.so failing-fdatasync.c -ldl
 *   LD_PRELOAD=./failing-fdatasync.so LUNAR_FAULT_FILE=/path/disk.img LUNAR_FAULT_TRIGGER=/path/trigger ...
 *
 * LUNAR_FAULT_FILE     path of the file, as /proc/self/fd shows it; calls on other files are passed on.
 * LUNAR_FAULT_TRIGGER  when this file exists, the next call removes it and fails. Its content is the number of the
 *                      error (28 for ENOSPC); an empty one stands for EIO.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_the_file(int fd) {
    const char *wanted = getenv("LUNAR_FAULT_FILE");
    char link[64];
    char path[PATH_MAX + 1];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (wanted == NULL || length < 0) {
        return 0;
    }
    path[length] = '\0';
    return strcmp(path, wanted) == 0;
}

/* The error to fail with, or 0. Of several callers at once, one removes the trigger. */
static int fault(int fd) {
    const char *trigger = getenv("LUNAR_FAULT_TRIGGER");
    if (trigger == NULL || !is_the_file(fd)) {
        return 0;
    }
    int file = open(trigger, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char text[16] = "";
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (unlink(trigger) != 0) {
        return 0;
    }
    int number = length > 0 ? atoi(text) : 0;
    return number > 0 ? number : EIO;
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (real == NULL) {
        real = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
    }
    int error = fault(fd);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return real(fd);
}

int fsync(int fd) {
    static int (*real)(int);
    if (real == NULL) {
        real = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
    }
    int error = fault(fd);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return real(fd);
}
