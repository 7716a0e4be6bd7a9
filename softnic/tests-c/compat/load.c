// SPDX-License-Identifier: MIT OR Apache-2.0
// The preloaded object on an old C library, which has no stat of its own but __xstat: the device is in the list, its node opens and is one.
//
//   softnic run --device efa -- ./load
#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "load.c:%d: %s\n", __LINE__, #condition);                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void)
{
    int found = 0;
    DIR *dir = opendir("/sys/class/infiniband");
    CHECK(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        found += strcmp(entry->d_name, "efa_0") == 0;
    closedir(dir);
    CHECK(found == 1);
    char type[32] = "";
    FILE *file = fopen("/sys/class/infiniband/efa_0/node_type", "r");
    CHECK(file && fgets(type, sizeof(type), file));
    fclose(file);
    CHECK(strncmp(type, "7: ", 3) == 0);
    struct stat by_name, by_fd;
    CHECK(stat("/dev/infiniband/uverbs0", &by_name) == 0);
    int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(fstat(fd, &by_fd) == 0);
    CHECK(S_ISCHR(by_name.st_mode) && S_ISCHR(by_fd.st_mode) && by_name.st_rdev == by_fd.st_rdev);
    CHECK(close(fd) == 0);
    printf("ok on glibc %s\n", gnu_get_libc_version());
    return 0;
}
