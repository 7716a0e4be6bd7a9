/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which copy of a library is used where there are several: one that the process has loaded comes before one that a search would find, one that the user has named
 * before both, and a name without number is never tried. Each test runs in a process of its own, which finds these folders in VBN_LOADED_FOLDER, and one of them
 * in its LD_LIBRARY_PATH:
 *   a      the library, which the test loads by its path
 *   b      the library again
 *   bare   the library by its name without number
 *   own    the library by a name that nobody would look for
 */
#include <dlfcn.h>
#include <libgen.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "null_help.h"

static const struct library {
    int number, kind; /* kind -1: no GPU's */
    const char *soname, *bare, *environment;
} libraries[] = {
    {VBN_LIBRARY_ROCM, VBN_GPU_KIND_ROCM, "libhsa-runtime64.so.1", "libhsa-runtime64.so", "VBN_ROCM_LIBRARY"},
    {VBN_LIBRARY_CUDA, VBN_GPU_KIND_CUDA, "libcuda.so.1", "libcuda.so", "VBN_CUDA_LIBRARY"},
    {VBN_LIBRARY_IBVERBS, -1, "libibverbs.so.1", "libibverbs.so", "VBN_IBVERBS_LIBRARY"},
};
#define EACH(l) (const struct library *l = libraries; l < libraries + ARRAY_SIZE(libraries); l++)

/* ---- Outside ---- */

static const char *folder; /* NULL: we are outside */

static const char *below(const char *part, const char *file)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s/%s", folder, part, file);
    return path;
}

/* Fills the folders from the program's own and from the null provider's. */
static void fill_folders(const char *self)
{
    static const char *const parts[] = {"a", "b", "bare", "own"};
    char copy[4096], from[4096 + 64];

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        MUST(!mkdir(below(parts[i], ""), 0700), "mkdir: %s", strerror(errno));
    for EACH(l) {
        snprintf(copy, sizeof(copy), "%s", self);
        snprintf(from, sizeof(from), "%s/%s", l->kind < 0 ? getenv("VBN_NULL_DIR") : dirname(copy), l->soname);
        test_copy_file(from, below("a", l->soname));
        test_copy_file(from, below("b", l->soname));
        test_copy_file(from, below("bare", l->bare));
        test_copy_file(from, below("own", l->soname + 3));
    }
}

/* In the child: itself once more, with one folder to search. */
static void again(const char *self, const char *test, const char *search)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    char text[4096];

    snprintf(text, sizeof(text), "%s/%s%s%s", folder, search, path && *path ? ":" : "", path ? path : "");
    setenv("LD_LIBRARY_PATH", text, 1);
    setenv("VBN_LOADED_FOLDER", folder, 1);
    for EACH(l)
        unsetenv(l->environment);
    execl(self, self, test, (char *)NULL);
    _exit(3);
}

/* Runs this test in a process that searches one of the folders; what it prints is the failure. */
static void run_inside(const char *test, const char *search)
{
    char made[] = "/tmp/verbena-loaded-XXXXXX", self[4000], command[64], output[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1), got;
    size_t n = 0;
    int pipes[2], status, passed;
    pid_t child;

    MUST(length > 0 && mkdtemp(made), "%s", strerror(errno));
    self[length] = '\0';
    folder = made;
    fill_folders(self);
    MUST(!pipe(pipes), "pipe");
    child = test_fork();
    if (!child) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        again(self, test, search);
    }
    close(pipes[1]);
    while (n < sizeof(output) - 1 && (got = read(pipes[0], output + n, sizeof(output) - 1 - n)) > 0)
        n += (size_t)got;
    output[n] = '\0';
    close(pipes[0]);
    MUST(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
    snprintf(command, sizeof(command), "rm -r '%s'", made);
    folder = NULL;
    MUST(!system(command), "%s", command);
    passed = status == 0 && strstr(output, " 1 passed, 0 failed");
    output[strcspn(output, "\n")] = '\0';
    MUST(passed, "wait status 0x%x: %s", (unsigned)status, output);
}

/* ---- Inside ---- */

/* Whether a file of that folder is mapped into this process. */
static int mapped(const char *part)
{
    char line[1024];
    const char *wanted = below(part, "");
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;

    MUST(maps, "maps");
    while (fgets(line, sizeof(line), maps))
        found |= strstr(line, wanted) != NULL;
    fclose(maps);
    return found;
}

static vbn_library_info query(const struct library *l)
{
    NEW(vbn_library_info, info);

    OK(vbn_library_query(l->number, &info));
    return info;
}

/* It is in use, from that file, found that way. */
static void in_use(const struct library *l, const char *path, int source)
{
    vbn_library_info info = query(l);

    MUST(info.loaded && info.source == source && !strcmp(info.path, path), "%s: loaded %u, source %d, path %s, not %s: %s", l->soname, info.loaded, info.source,
         info.path, path, info.error);
}

/* Loads the one in folder a, as a program would, and makes it tell from others; this number is what libverbena then sees. */
enum { TELLS = 7 };
static void load_a(const struct library *l)
{
    static const char *const control[] = {[VBN_GPU_KIND_CUDA] = "simcuda_version", [VBN_GPU_KIND_ROCM] = "simhsa_gpus"};
    void *library = dlopen(below("a", l->soname), RTLD_NOW | RTLD_LOCAL), *address;
    void (*tell)(int number);
    int (*init)(unsigned flags);

    MUST(library, "%s", dlerror());
    if (l->kind < 0)
        return;
    address = dlsym(library, control[l->kind]);
    MUST(address, "%s", dlerror());
    memcpy(&tell, &address, sizeof(tell));
    tell(l->kind == VBN_GPU_KIND_CUDA ? 12000 + TELLS : TELLS);
    if (l->kind != VBN_GPU_KIND_CUDA)
        return;
    address = dlsym(library, "cuInit");
    memcpy(&init, &address, sizeof(init));
    MUST(address && !init(0), "cuInit");
}

static void tells(const struct library *l)
{
    NEW(vbn_gpu_device_info, device);
    uint32_t count = 77;

    if (l->kind == VBN_GPU_KIND_CUDA) {
        OK(vbn_gpu_device_query(l->kind, 0, &device));
        CHECK_EQ(device.driver_version, 12000 + TELLS);
    } else if (l->kind == VBN_GPU_KIND_ROCM) {
        OK(vbn_gpu_device_count(l->kind, &count));
        CHECK_UEQ(count, TELLS);
    }
}

/* What the process has loaded is taken, though a search would find another. */
static void loaded_first(void)
{
    NEW(vbn_gpu_pointer_info, info);

    if (!folder) {
        run_inside("loaded_first", "b");
        return;
    }
    for EACH(l) {
        load_a(l);
        if (l->kind >= 0)
            OK(vbn_gpu_pointer_query(VBN_GPU_KIND_ANY, 4096, &info));
        in_use(l, below("a", l->soname), VBN_LIBRARY_FROM_DEFAULT);
        CHECK_UEQ(query(l).copies, 1);
        tells(l);
    }
    CHECK(!mapped("b"));
}

/* A question about any memory loads nothing: where nobody has loaded a GPU's library there is none of its memory. Who names the kind has it searched for. */
static void none_is_loaded(void)
{
    NEW(vbn_gpu_pointer_info, info);

    if (!folder) {
        run_inside("none_is_loaded", "b");
        return;
    }
    WANT(vbn_gpu_pointer_query(VBN_GPU_KIND_ANY, 4096, &info), VBN_ERR_LIBRARY_MISSING);
    WANT_TEXT("neither libcuda.so.1 nor libhsa-runtime64.so.1 is loaded");
    CHECK(!mapped("b"));
    for EACH(l) {
        if (l->kind == VBN_GPU_KIND_CUDA)
            WANT(vbn_gpu_pointer_query(l->kind, 4096, &info), VBN_ERR_DRIVER); /* nobody has called cuInit */
        else if (l->kind >= 0)
            OK(vbn_gpu_pointer_query(l->kind, 4096, &info));
        in_use(l, below("b", l->soname), VBN_LIBRARY_FROM_DEFAULT);
    }
}

/* A name without number belongs to a toolkit's stub, or to developers. */
static void bare_names(void)
{
    if (!folder) {
        run_inside("bare_names", "bare");
        return;
    }
    for EACH(l) {
        vbn_library_info info = query(l);

        /* The machine may have one of its own. */
        MUST(info.loaded || strstr(info.error, l->soname), "%s: %s", l->soname, info.error);
        MUST(!strstr(info.path, folder), "%s: %s", l->soname, info.path);
    }
    CHECK(!mapped("bare"));
}

/* What the user has named is meant: it comes before the loaded one, and no other takes its place if it can't be loaded. */
static void named(int by_path)
{
    for EACH(l) {
        const char *none = below("own", "none.so"), *own = below("own", l->soname + 3);
        int source = by_path ? VBN_LIBRARY_FROM_PATH : VBN_LIBRARY_FROM_ENV;
        NEW(vbn_library_attr, attr);
        NEW(vbn_gpu_pointer_info, pointer);
        vbn_library_info info;

        attr.library = l->number;
        attr.path = none;
        load_a(l);
        if (by_path)
            OK(vbn_library_init(&attr));
        else
            setenv(l->environment, none, 1);
        if (l->kind >= 0)
            for (int any = 0; any < 2; any++) {
                WANT(vbn_gpu_pointer_query(any ? VBN_GPU_KIND_ANY : l->kind, 4096, &pointer), VBN_ERR_LIBRARY_MISSING);
                WANT_TEXT("none.so");
            }
        info = query(l);
        MUST(!info.loaded && info.source == source && !strcmp(info.path, none) && strstr(info.error, "none.so"), "%s: source %d, %s: %s", l->soname, info.source,
             info.path, info.error);
        attr.path = own;
        if (by_path)
            OK(vbn_library_init(&attr));
        else
            setenv(l->environment, own, 1);
        in_use(l, own, source);
        CHECK_UEQ(query(l).copies, 2);
        CHECK_STR(query(l).other_path, below("a", l->soname));
    }
    CHECK(!mapped("b"));
}

static void named_by_environment(void)
{
    if (folder)
        named(0);
    else
        run_inside("named_by_environment", "b");
}

static void named_by_path(void)
{
    if (folder)
        named(1);
    else
        run_inside("named_by_path", "b");
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"loaded_first", loaded_first},
        {"none_is_loaded", none_is_loaded},
        {"bare_names", bare_names},
        {"named_by_environment", named_by_environment},
        {"named_by_path", named_by_path},
        {NULL, NULL},
    };

    folder = getenv("VBN_LOADED_FOLDER");
    if (!folder && !getenv("VBN_NULL_DIR")) {
        fprintf(stderr, "VBN_NULL_DIR must name the folder of the null provider's builds; tests-c/run-null sets it\n");
        return 2;
    }
    return test_main("null_loaded", tests, argc, argv);
}
