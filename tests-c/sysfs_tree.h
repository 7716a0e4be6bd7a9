/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small trees as sysfs has them, in a directory of their own: PCI functions, RDMA devices, NUMA nodes. */
#ifndef SYSFS_TREE_H
#define SYSFS_TREE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"

struct tree {
    char root[64];
};

static inline struct tree tree_open(void)
{
    struct tree tree = {"/tmp/vbn-sysfs-XXXXXX"};

    if (!mkdtemp(tree.root))
        FAIL("mkdtemp: %s", strerror(errno));
    return tree;
}

static inline void tree_close(struct tree *tree)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r '%s'", tree->root);
    if (system(command))
        FAIL("%s failed", command);
}

/* A path in the tree, whose directories are made. */
static inline const char *__attribute__((format(printf, 2, 3))) tree_path(const struct tree *tree, const char *format, ...)
{
    static char path[1024];
    size_t length = (size_t)snprintf(path, sizeof(path), "%s/", tree->root);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(path + length, sizeof(path) - length, format, arguments);
    va_end(arguments);
    for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0700) && errno != EEXIST)
            FAIL("mkdir %s: %s", path, strerror(errno));
        *slash = '/';
    }
    return path;
}

static inline void tree_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
        FAIL("%s: %s", path, strerror(errno));
}

static inline void tree_link(const char *path, const char *to)
{
    if (symlink(to, path))
        FAIL("symlink %s: %s", path, strerror(errno));
}

/*
 * A PCI function by its way from the root, such as "pci0000:00/0000:00:01.0/0000:01:00.0", with its NUMA node and, unless that is
 * NULL, an RDMA device on it.
 */
static inline void tree_device(const struct tree *tree, const char *way, int numa_node, const char *rdma)
{
    const char *address = strrchr(way, '/') + 1;
    char text[512];

    snprintf(text, sizeof(text), "%d", numa_node);
    tree_write(tree_path(tree, "devices/%s/numa_node", way), text);
    snprintf(text, sizeof(text), "../../../devices/%s", way);
    tree_link(tree_path(tree, "bus/pci/devices/%s", address), text);
    if (!rdma)
        return;
    snprintf(text, sizeof(text), "../../../%s", address);
    tree_link(tree_path(tree, "devices/%s/infiniband/%s/device", way, rdma), text);
    snprintf(text, sizeof(text), "../../devices/%s/infiniband/%s", way, rdma);
    tree_link(tree_path(tree, "class/infiniband/%s", rdma), text);
}

/* A NUMA node with its first processor, in a package, and its distances to all nodes. */
static inline void tree_node(const struct tree *tree, int node, int first_cpu, int package, const char *distances)
{
    char text[64];

    snprintf(text, sizeof(text), "%d-%d,%d", first_cpu, first_cpu + 3, first_cpu + 1000);
    tree_write(tree_path(tree, "devices/system/node/node%d/cpulist", node), text);
    tree_write(tree_path(tree, "devices/system/node/node%d/distance", node), distances);
    snprintf(text, sizeof(text), "%d", package);
    tree_write(tree_path(tree, "devices/system/cpu/cpu%d/topology/physical_package_id", first_cpu), text);
}

#endif
