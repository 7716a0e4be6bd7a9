/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vbn_gpu_nic_distance and vbn_nic_nearest on trees of real machines, and on some that are made up. A test that is about a machine says who recorded it: addresses, names
 * and NUMA nodes are from there, in a form of our own. What a recording leaves out is filled in, and said to be. Distances of NUMA nodes are filled in but for the
 * recordings of hwloc.
 */
#include "null_help.h"
#include "simcuda/simcuda_load.h"
#include "sysfs_tree.h"

static struct tree tree;

static vbn_distance_info measure(const char *gpu, const char *nic)
{
    vbn_distance_attr attr = {.struct_size = sizeof(attr), .gpu = gpu, .nic = nic, .sysfs = tree.root};
    NEW(vbn_distance_info, info);

    OK(vbn_gpu_nic_distance(&attr, &info));
    return info;
}

/* Checks a distance and what is told with it. */
static vbn_distance_info want(const char *gpu, const char *nic, int32_t distance, const char *common)
{
    vbn_distance_info info = measure(gpu, nic);

    MUST(info.distance == distance, "%s, not %s: %s", vbn_distance_name(info.distance), vbn_distance_name(distance), info.reason);
    CHECK_STR(info.common, common);
    CHECK_HAS(info.reason, info.gpu);
    if (*common)
        CHECK_HAS(info.reason, common);
    return info;
}

enum { MOST = 64 };
static vbn_distance_info nics[MOST];

/* Fills `nics` and returns how many there are. */
static uint32_t nearest(const char *gpu)
{
    vbn_distance_attr attr = {.struct_size = sizeof(attr), .gpu = gpu, .sysfs = tree.root};
    uint32_t count;

    memset(nics, 0xa5, sizeof(nics));
    OK(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), MOST, &count));
    for (uint32_t i = 0; i < count; i++) {
        MUST(nics[i].struct_size == sizeof(nics[0]), "struct_size %zu", nics[i].struct_size);
        MUST(!i || nics[i - 1].distance <= nics[i].distance, "%s is out of order", nics[i].nic_name);
    }
    MUST(count == MOST || nics[count].struct_size != sizeof(nics[0]), "more than %u were written", count);
    return count;
}

/*
 * p5.48xlarge: eight switches with a GPU and four EFAs each, four for a socket. Upstream ports (45:00.0, then in steps of 0x11), EFAs and NUMA nodes are
 * those of topology/p5.48xl-topo.xml of aws-ofi-nccl, commit 67125bf2. The whole way to the first GPU (44:00.0, 45:00.0, 46:01.4, 53:00.0) and to the first EFA
 * (46:01.0, 4f:00.0) are those that lstopo showed on such a machine (Hugging Face, "Smol Training Playbook", 2025); the other ports are filled in.
 */
static void p5(void)
{
    char gpu[32], want_name[32], way[128];
    vbn_distance_info info;

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 21");
    tree_node(&tree, 1, 48, 1, "21 10");
    for (unsigned group = 0; group < 8; group++) {
        unsigned base = 0x44 + 0x11 * group;
        char above[64];

        snprintf(above, sizeof(above), "pci0000:%02x/0000:%02x:00.0/0000:%02x:00.0", base, base, base + 1);
        for (unsigned nic = 0; nic < 4; nic++) {
            char name[32];

            snprintf(name, sizeof(name), "rdmap%us0", base + 11 + nic);
            snprintf(way, sizeof(way), "%s/0000:%02x:01.%u/0000:%02x:00.0", above, base + 2, nic, base + 11 + nic);
            tree_device(&tree, way, group / 4, name);
        }
        snprintf(way, sizeof(way), "%s/0000:%02x:01.4/0000:%02x:00.0", above, base + 2, base + 15);
        tree_device(&tree, way, group / 4, NULL);
    }
    for (unsigned group = 0; group < 8; group++) {
        snprintf(gpu, sizeof(gpu), "%02x:00.0", 0x53 + 0x11 * group);
        CHECK_UEQ(nearest(gpu), 32);
        for (unsigned i = 0; i < 32; i++) {
            CHECK_EQ(nics[i].distance, i < 4 ? VBN_DISTANCE_SWITCH : i < 16 ? VBN_DISTANCE_NUMA_NODE : VBN_DISTANCE_SYSTEM);
            CHECK_UEQ(nics[i].numa_distance, i < 16 ? 10 : 21);
            CHECK_EQ(nics[i].nic_numa_node, (i < 16) == (group < 4) ? 0 : 1);
        }
        for (unsigned i = 0; i < 4; i++) {
            snprintf(want_name, sizeof(want_name), "rdmap%us0", 0x4f + 0x11 * group + i);
            CHECK_STR(nics[i].nic_name, want_name);
        }
    }
    info = want("0000:53:00.0", "rdmap79s0", VBN_DISTANCE_SWITCH, "0000:45:00.0");
    CHECK_UEQ(info.gpu_bridges, 1);
    CHECK_UEQ(info.nic_bridges, 1);
    CHECK_STR(info.gpu, "0000:53:00.0");
    CHECK_STR(info.nic, "0000:4f:00.0");
    CHECK_STR(info.reason, "GPU 0000:53:00.0 and rdmap79s0 (0000:4f:00.0) are behind one PCIe switch, below 0000:45:00.0");
    info = want("0000:53:00.0", "0000:4f:00.0", VBN_DISTANCE_SWITCH, "0000:45:00.0");
    CHECK_STR(info.nic_name, "");
    want("0000:53:00.0", "rdmap96s0", VBN_DISTANCE_NUMA_NODE, "");
    want("0000:53:00.0", "0000:c6:00.0", VBN_DISTANCE_SYSTEM, "");
    tree_close(&tree);
}

/*
 * p4d.24xlarge: two GPUs and an EFA for each of four host bridges, whose switches the machine doesn't see. GPUs, EFAs and host bridges as a node told them to Kubernetes
 * (kubernetes-sigs/dranet, examples/aws_eks_examples/gpu-efa), NUMA nodes from topology/p4d-24xl-topo.xml of aws-ofi-nccl, commit 35d97d28.
 */
static void p4d(void)
{
    static const unsigned buses[4] = {0x10, 0x20, 0x90, 0xa0};
    static const char *const efas[4] = {"rdmap16s27", "rdmap32s27", "rdmap144s27", "rdmap160s27"};
    char way[128], gpu[32];

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 21");
    tree_node(&tree, 1, 24, 1, "21 10");
    for (unsigned i = 0; i < 4; i++)
        for (unsigned slot = 0x1b; slot <= 0x1d; slot++) {
            snprintf(way, sizeof(way), "pci0000:%02x/0000:%02x:%02x.0", buses[i], buses[i], slot);
            tree_device(&tree, way, i / 2, slot == 0x1b ? efas[i] : NULL);
        }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(gpu, sizeof(gpu), "00000000:%02X:%02X.0", buses[i / 2], 0x1c + i % 2);
        CHECK_UEQ(nearest(gpu), 4);
        CHECK_STR(nics[0].nic_name, efas[i / 2]);
        CHECK_EQ(nics[0].distance, VBN_DISTANCE_HOST_BRIDGE);
        CHECK_UEQ(nics[0].gpu_bridges + nics[0].nic_bridges, 0);
        CHECK_HAS(nics[0].reason, "may hide a switch");
        CHECK_STR(nics[1].nic_name, efas[i / 2 ^ 1]);
        CHECK_EQ(nics[1].distance, VBN_DISTANCE_NUMA_NODE);
        CHECK_EQ(nics[2].distance, VBN_DISTANCE_SYSTEM);
        CHECK_EQ(nics[3].distance, VBN_DISTANCE_SYSTEM);
    }
    tree_close(&tree);
}

/*
 * Azure's ND H100 v5: eight GPUs and eight ConnectX-7, each at a host bridge of its own in a domain of its own, so that NUMA nodes are all that the machine sees.
 * Addresses and nodes from topology/ndv5-topo.xml of Azure/azhpc-images, commit 6db46dfe, which adds switches for NCCL that the machine does not show; the way through the
 * VMBus is in the form that Hyper-V gives it.
 */
static void ndv5(void)
{
    static const unsigned gpus[8] = {1, 2, 3, 8, 9, 10, 11, 12};
    char way[160], gpu[32], name[32];

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 21");
    tree_node(&tree, 1, 48, 1, "21 10");
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned nic = 0; nic < 2; nic++) {
            unsigned domain = nic ? 0x101 + i : gpus[i];

            snprintf(name, sizeof(name), "mlx5_%u", i);
            snprintf(way, sizeof(way), "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/guid-%04x/pci%04x:00/%04x:00:00.0", domain, domain, domain);
            tree_device(&tree, way, i / 4, nic ? name : NULL);
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(gpu, sizeof(gpu), "%04x:00:00.0", gpus[i]);
        CHECK_UEQ(nearest(gpu), 8);
        for (unsigned k = 0; k < 8; k++) {
            CHECK_EQ(nics[k].distance, k < 4 ? VBN_DISTANCE_NUMA_NODE : VBN_DISTANCE_SYSTEM);
            CHECK_EQ(nics[k].nic_numa_node, (k < 4) == (i < 4) ? 0 : 1);
            CHECK_STR(nics[k].common, "");
        }
        CHECK_STR(nics[0].nic_name, i < 4 ? "mlx5_0" : "mlx5_4");
    }
    tree_close(&tree);
}

/* The way of a PCI function in sysfs, from what lspci -PP prints of it. */
static const char *way_of(const char *printed)
{
    static char way[256];
    size_t length = (size_t)snprintf(way, sizeof(way), "pci0000:%.2s", printed);

    for (const char *step = printed; step; step = strchr(step, '/')) {
        step += *step == '/';
        length += (size_t)snprintf(way + length, sizeof(way) - length, "/0000:%.7s", step);
    }
    return way;
}

/*
 * A machine with eight MI300X and eight ConnectX-7: each pair behind a switch, the GPU behind two more bridges that are its own. The whole way of each, and which NIC belongs to
 * which GPU on which processor, as AMD's guide has them from lspci -PP (ROCm/system-acceptance-docs, docs/network/topology-mapping.md, commit 4c1afd2d). RDMA names are filled in.
 */
static void mi300x(void)
{
    static const struct {
        const char *gpu, *nic, *common;
    } pairs[8] = {
        {"00:01.1/01:00.0/02:00.0/03:00.0/04:00.0/05:00.0", "00:01.1/01:00.0/02:01.0/09:00.0", "0000:01:00.0"},
        {"18:01.1/19:00.0/1a:04.0/29:00.0/2a:00.0/2b:00.0", "18:01.1/19:00.0/1a:03.0/23:00.0", "0000:19:00.0"},
        {"48:01.1/49:00.0/4a:04.0/59:00.0/5a:00.0/5b:00.0", "48:01.1/49:00.0/4a:03.0/53:00.0", "0000:49:00.0"},
        {"60:01.1/61:00.0/62:00.0/63:00.0/64:00.0/65:00.0", "60:01.1/61:00.0/62:01.0/69:00.0", "0000:61:00.0"},
        {"78:01.1/79:00.0/7a:00.0/7b:00.0/7c:00.0/7d:00.0", "78:01.1/79:00.0/7a:05.0/8f:00.0", "0000:79:00.0"},
        {"98:01.1/99:00.0/9a:03.0/a3:00.0/a4:00.0/a5:00.0", "98:01.1/99:00.0/9a:01.0/9c:00.0", "0000:99:00.0"},
        {"c8:01.1/c9:00.0/ca:03.0/d3:00.0/d4:00.0/d5:00.0", "c8:01.1/c9:00.0/ca:02.0/cd:00.0", "0000:c9:00.0"},
        {"e0:01.1/e1:00.0/e2:02.0/e5:00.0/e6:00.0/e7:00.0", "e0:01.1/e1:00.0/e2:04.0/f1:00.0", "0000:e1:00.0"},
    };
    char name[32];

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 32");
    tree_node(&tree, 1, 96, 1, "32 10");
    /* Named against the order of the addresses, so that neither stands for the right answer. */
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "mlx5_%u", 7 - i);
        tree_device(&tree, way_of(pairs[i].gpu), i / 4, NULL);
        tree_device(&tree, way_of(pairs[i].nic), i / 4, name);
    }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "mlx5_%u", 7 - i);
        CHECK_UEQ(nearest(strrchr(pairs[i].gpu, '/') + 1), 8);
        CHECK_STR(nics[0].nic_name, name);
        CHECK_HAS(nics[0].nic, strrchr(pairs[i].nic, '/') + 1);
        CHECK_EQ(nics[0].distance, VBN_DISTANCE_SWITCHES);
        CHECK_STR(nics[0].common, pairs[i].common);
        CHECK_UEQ(nics[0].gpu_bridges, 3);
        CHECK_UEQ(nics[0].nic_bridges, 1);
        for (unsigned k = 1; k < 8; k++)
            CHECK_EQ(nics[k].distance, k < 4 ? VBN_DISTANCE_NUMA_NODE : VBN_DISTANCE_SYSTEM);
    }
    tree_close(&tree);
}

/*
 * DGX H100: a GPU and a ConnectX-7 behind a switch of their own, eight times; two storage NICs for a socket at other host bridges. Which NIC belongs to which GPU, with
 * names and buses (ibp24s0 is mlx5_0 on bus 18, for GPU 0), is in NVIDIA's DGX H100 user guide, "Network Modules"; the ports above are filled in.
 */
static void dgx(void)
{
    static const unsigned gpus[8] = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf};
    static const char *const near_names[8] = {"mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11"};
    char way[128], gpu[32];

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 21");
    tree_node(&tree, 1, 56, 1, "21 10");
    for (unsigned i = 0; i < 8; i++) {
        char above[64];

        snprintf(above, sizeof(above), "pci0000:%02x/0000:%02x:01.0/0000:%02x:00.0", gpus[i] - 6, gpus[i] - 6, gpus[i] - 5);
        snprintf(way, sizeof(way), "%s/0000:%02x:02.0/0000:%02x:00.0", above, gpus[i] - 4, gpus[i] - 3);
        tree_device(&tree, way, i / 4, near_names[i]);
        snprintf(way, sizeof(way), "%s/0000:%02x:00.0/0000:%02x:00.0", above, gpus[i] - 4, gpus[i]);
        tree_device(&tree, way, i / 4, NULL);
    }
    tree_device(&tree, "pci0000:26/0000:26:01.0/0000:29:00.0", 0, "mlx5_1");
    tree_device(&tree, "pci0000:26/0000:26:01.0/0000:29:00.1", 0, "mlx5_2");
    tree_device(&tree, "pci0000:a7/0000:a7:01.0/0000:aa:00.0", 1, "mlx5_7");
    tree_device(&tree, "pci0000:a7/0000:a7:01.0/0000:aa:00.1", 1, "mlx5_8");
    for (unsigned i = 0; i < 8; i++) {
        /* As nvidia-smi prints it. */
        snprintf(gpu, sizeof(gpu), "00000000:%02X:00.0", gpus[i]);
        CHECK_UEQ(nearest(gpu), 12);
        CHECK_STR(nics[0].nic_name, near_names[i]);
        CHECK_EQ(nics[0].distance, VBN_DISTANCE_SWITCH);
        CHECK_EQ(nics[1].distance, VBN_DISTANCE_NUMA_NODE);
        CHECK_EQ(nics[5].distance, VBN_DISTANCE_NUMA_NODE);
        CHECK_EQ(nics[6].distance, VBN_DISTANCE_SYSTEM);
    }
    /* Names are ordered by their numbers. */
    CHECK_UEQ(nearest("1b:00.0"), 12);
    CHECK_STR(nics[9].nic_name, "mlx5_9");
    CHECK_STR(nics[10].nic_name, "mlx5_10");
    tree_close(&tree);
}

/* Made up: two sockets without switches, the second with two NUMA nodes for a package, as sub-NUMA clustering makes them. */
static void two_sockets(void)
{
    vbn_distance_info info;

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 20 20 20");
    tree_node(&tree, 2, 32, 1, "20 10 12 20");
    /* The kernel numbers with gaps. */
    tree_node(&tree, 3, 64, 1, "20 12 10 20");
    tree_device(&tree, "pci0000:16/0000:16:02.0/0000:17:00.0", 0, NULL);
    tree_device(&tree, "pci0000:16/0000:16:04.0/0000:18:00.0", 0, "mlx5_0");
    tree_device(&tree, "pci0000:30/0000:30:02.0/0000:31:00.0", 0, "mlx5_1");
    tree_device(&tree, "pci0000:64/0000:64:02.0/0000:65:00.0", 2, "mlx5_2");
    tree_device(&tree, "pci0000:80/0000:80:02.0/0000:81:00.0", 3, "mlx5_3");
    tree_device(&tree, "pci0000:64/0000:64:04.0/0000:66:00.0", 2, NULL);

    want("17:00.0", "mlx5_0", VBN_DISTANCE_HOST_BRIDGE, "pci0000:16");
    want("17:00.0", "mlx5_1", VBN_DISTANCE_NUMA_NODE, "");
    info = want("17:00.0", "mlx5_3", VBN_DISTANCE_SYSTEM, "");
    CHECK_UEQ(info.numa_distance, 20);
    info = want("66:00.0", "mlx5_3", VBN_DISTANCE_PACKAGE, "");
    CHECK_UEQ(info.numa_distance, 12);
    CHECK_EQ(info.gpu_numa_node, 2);
    CHECK_EQ(info.nic_numa_node, 3);
    info = want("66:00.0", "mlx5_2", VBN_DISTANCE_HOST_BRIDGE, "pci0000:64");
    CHECK_UEQ(info.gpu_bridges, 1);
    CHECK_UEQ(nearest("66:00.0"), 4);
    CHECK_STR(nics[0].nic_name, "mlx5_2");
    CHECK_STR(nics[1].nic_name, "mlx5_3");
    tree_close(&tree);
}

/* Made up: a virtual machine without NUMA nodes, devices directly at a host bridge, and some at a host bridge of their own. */
static void virtual_machine(void)
{
    vbn_distance_info info;

    tree = tree_open();
    tree_device(&tree, "pci0000:00/0000:00:1e.0", -1, NULL);
    tree_device(&tree, "pci0000:00/0000:00:06.0", -1, "rdmap0s6");
    tree_device(&tree, "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/a-guid/pci0101:00/0101:00:00.0", -1, "mlx5_0");
    info = want("0000:00:1e.0", "rdmap0s6", VBN_DISTANCE_HOST_BRIDGE, "pci0000:00");
    CHECK_HAS(info.reason, "may hide a switch");
    info = want("0000:00:1e.0", "mlx5_0", VBN_DISTANCE_UNKNOWN, "");
    CHECK_HAS(info.reason, "doesn't tell their NUMA nodes (-1 and -1)");
    CHECK_EQ(info.gpu_numa_node, -1);
    CHECK_UEQ(info.numa_distance, 0);
    CHECK_UEQ(nearest("00:1e.0"), 2);
    CHECK_STR(nics[0].nic_name, "rdmap0s6");
    tree_close(&tree);
}

/* Made up: one switch below another, functions of one card, and a NIC whose RDMA device is one of its sub-functions. */
static void switches(void)
{
    vbn_distance_info info;

    tree = tree_open();
    tree_device(&tree, "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0", 0, NULL);
    tree_device(&tree, "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:06:00.0", 0, "mlx5_0");
    tree_device(&tree, "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:01.0/0000:07:00.0", 0, NULL);
    tree_device(&tree, "pci0000:00/0000:00:02.0/0000:08:00.0", 0, NULL);
    tree_device(&tree, "pci0000:00/0000:00:02.0/0000:08:00.1", 0, "mlx5_1");
    tree_link(tree_path(&tree, "class/infiniband/mlx5_2"),
              "../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:01.0/0000:07:00.0/mlx5_core.sf.4/infiniband/mlx5_2");
    tree_path(&tree, "devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:01.0/0000:07:00.0/mlx5_core.sf.4/infiniband/mlx5_2/");

    info = want("05:00.0", "mlx5_0", VBN_DISTANCE_SWITCHES, "0000:01:00.0");
    CHECK_UEQ(info.gpu_bridges, 3);
    CHECK_UEQ(info.nic_bridges, 1);
    want("05:00.0", "mlx5_2", VBN_DISTANCE_SWITCH, "0000:03:00.0");
    info = want("08:00.0", "mlx5_1", VBN_DISTANCE_SWITCH, "0000:00:02.0");
    CHECK_UEQ(info.gpu_bridges + info.nic_bridges, 0);
    want("05:00.0", "mlx5_1", VBN_DISTANCE_HOST_BRIDGE, "pci0000:00");
    info = measure("08:00.0", "08:00.0");
    CHECK_HAS(info.reason, "are the same device");
    CHECK_UEQ(nearest("05:00.0"), 3);
    CHECK_STR(nics[0].nic_name, "mlx5_2");
    CHECK_STR(nics[1].nic_name, "mlx5_0");
    tree_close(&tree);
}

/*
 * A machine with GPUs as hwloc recorded it: an SL390s G7 with three Tesla M2070 and a ConnectX, tests/hwloc/xml/24em64t-2n6c2t-pci.xml of open-mpi/hwloc, commit
 * 3b37b024. Everything on its buses is here, network cards, disks and graphics too.
 */
static void recorded_gpus(void)
{
    static const char *const first[] = {"00:01.0/0000:04:00.0", "00:01.0/0000:04:00.1", "00:07.0/0000:06:00.0", "00:1e.0/0000:01:03.0", "00:1f.2", "00:1f.5"};
    static const char *const second[] = {"10:03.0/0000:14:00.0", "10:07.0/0000:11:00.0"};
    vbn_distance_info info;
    char way[128];

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 20");
    tree_node(&tree, 1, 1, 1, "20 10");
    for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
        snprintf(way, sizeof(way), "pci0000:00/0000:%s", first[i]);
        tree_device(&tree, way, 0, NULL);
    }
    for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
        snprintf(way, sizeof(way), "pci0000:10/0000:%s", second[i]);
        tree_device(&tree, way, 1, NULL);
    }
    tree_device(&tree, "pci0000:00/0000:00:05.0/0000:05:00.0", 0, "mlx4_0");
    info = want("0000:06:00.0", "mlx4_0", VBN_DISTANCE_HOST_BRIDGE, "pci0000:00");
    CHECK_UEQ(info.gpu_bridges, 1);
    CHECK_UEQ(info.nic_bridges, 1);
    CHECK_UEQ(info.numa_distance, 10);
    CHECK_STR(info.nic, "0000:05:00.0");
    for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
        info = want(strrchr(second[i], '/') + 1, "mlx4_0", VBN_DISTANCE_SYSTEM, "");
        CHECK_EQ(info.gpu_numa_node, 1);
        CHECK_EQ(info.nic_numa_node, 0);
        CHECK_UEQ(info.numa_distance, 20);
        CHECK_UEQ(nearest(strrchr(second[i], '/') + 1), 1);
    }
    tree_close(&tree);
}

/*
 * A machine of 2013 as its sysfs was recorded: what hwloc 3's tests keep as 32em64t-2n8c+dax+nvme+mic+dimms. An accelerator (Xeon Phi) and a ConnectX-3 at two root
 * ports of one host bridge, a graphics chip behind a bridge at the other socket, and an RDMA device (SCIF) that is no PCI function.
 */
static void recorded(void)
{
    vbn_distance_info info;

    tree = tree_open();
    tree_node(&tree, 0, 0, 0, "10 21");
    tree_node(&tree, 1, 8, 1, "21 10");
    tree_device(&tree, "pci0000:00/0000:00:1c.0/0000:04:00.0/0000:05:00.0", 0, NULL);
    tree_device(&tree, "pci0000:80/0000:80:03.0/0000:83:00.0", 1, NULL);
    tree_device(&tree, "pci0000:80/0000:80:02.2/0000:82:00.0", 1, "mlx4_0");
    tree_path(&tree, "devices/scif_dma_0/infiniband/scif0/");
    tree_link(tree_path(&tree, "class/infiniband/scif0"), "../../devices/scif_dma_0/infiniband/scif0");
    info = want("0000:83:00.0", "mlx4_0", VBN_DISTANCE_HOST_BRIDGE, "pci0000:80");
    CHECK_UEQ(info.gpu_bridges, 1);
    CHECK_UEQ(info.nic_bridges, 1);
    CHECK_EQ(info.gpu_numa_node, 1);
    info = want("0000:05:00.0", "mlx4_0", VBN_DISTANCE_SYSTEM, "");
    CHECK_UEQ(info.numa_distance, 21);
    want("0000:83:00.0", "scif0", VBN_DISTANCE_UNKNOWN, "");
    CHECK_UEQ(nearest("83:00.0"), 2);
    CHECK_STR(nics[0].nic_name, "mlx4_0");
    CHECK_STR(nics[1].nic_name, "scif0");
    tree_close(&tree);
}

/* Soft-RoCE has no PCI device. A tree without RDMA has no NICs, which is no error. */
static void no_pci(void)
{
    vbn_distance_info info;

    tree = tree_open();
    tree_device(&tree, "pci0000:00/0000:00:01.0", 0, NULL);
    CHECK_UEQ(nearest("00:01.0"), 0);
    tree_path(&tree, "devices/virtual/infiniband/rxe0/");
    tree_link(tree_path(&tree, "class/infiniband/rxe0"), "../../devices/virtual/infiniband/rxe0");
    info = want("00:01.0", "rxe0", VBN_DISTANCE_UNKNOWN, "");
    CHECK_STR(info.nic, "");
    CHECK_HAS(info.reason, "no PCI device");
    CHECK_UEQ(nearest("00:01.0"), 1);
    CHECK_STR(nics[0].nic_name, "rxe0");
    tree_close(&tree);
}

/* The NIC as an open device; the tree by the environment; fewer elements than devices; this machine's own sysfs. */
static void ways_to_ask(void)
{
    vbn_distance_attr attr = {.struct_size = sizeof(attr), .gpu = "0000:02:00.0"};
    NEW(vbn_distance_info, info);
    vbn_context *context;
    uint32_t count;

    null_begin();
    OK(vbn_context_open("null0", NULL, &context));
    tree = tree_open();
    tree_device(&tree, "pci0000:00/0000:00:01.0/0000:02:00.0", 0, NULL);
    tree_device(&tree, "pci0000:00/0000:00:02.0/0000:03:00.0", 0, "null0");
    tree_device(&tree, "pci0000:00/0000:00:02.0/0000:03:00.1", 0, "null1");
    setenv("VBN_SYSFS", tree.root, 1);
    attr.context = context;
    OK(vbn_gpu_nic_distance(&attr, &info));
    CHECK_EQ(info.distance, VBN_DISTANCE_HOST_BRIDGE);
    CHECK_STR(info.nic_name, "null0");
    attr.context = NULL;
    memset(nics, 0xa5, sizeof(nics));
    OK(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), 1, &count));
    CHECK_UEQ(count, 2);
    CHECK_STR(nics[0].nic_name, "null0");
    CHECK_UEQ(nics[1].struct_size, 0xa5a5a5a5a5a5a5a5);
    unsetenv("VBN_SYSFS");
    attr.gpu = "ffffffff:ff:1f.7";
    WANT(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), 1, &count), VBN_ERR_NOT_FOUND);
    WANT_TEXT("ffffffff:ff:1f.7");
    tree_close(&tree);
    OK(vbn_context_close(&context));
    null_clean();
}

/* The GPU by its ordinal, which goes by the address that the driver tells. */
static void by_ordinal(void)
{
    vbn_distance_attr attr = {.struct_size = sizeof(attr), .nic = "null0", .gpu_kind = VBN_GPU_KIND_CUDA, .gpu_device = 1};
    NEW(vbn_distance_info, info);
    uint32_t count;

    MUST(!simcuda_start(), "no simulated libcuda beside the program");
    OK(simcuda_use(0));
    sim.reset();
    tree = tree_open();
    attr.sysfs = tree.root;
    tree_device(&tree, "pci0000:00/0000:00:01.0/0000:02:00.0", 0, NULL);
    tree_device(&tree, "pci0000:10/0000:10:01.0/0000:12:00.0", 1, NULL);
    tree_device(&tree, "pci0000:10/0000:10:02.0/0000:13:00.0", 1, "null0");
    sim.pci(0, "0000:02:00.0");
    sim.pci(1, "0000:12:00.0");
    WANT(vbn_gpu_nic_distance(&attr, &info), VBN_ERR_DRIVER); /* nobody has called cuInit */
    CHECK_EQ(sim.cuda.Init(0), 0);
    OK(vbn_gpu_nic_distance(&attr, &info));
    CHECK_STR(info.gpu, "0000:12:00.0");
    CHECK_EQ(info.distance, VBN_DISTANCE_HOST_BRIDGE);
    attr.gpu_device = 0;
    OK(vbn_gpu_nic_distance(&attr, &info));
    CHECK_STR(info.gpu, "0000:02:00.0");
    CHECK_EQ(info.distance, VBN_DISTANCE_SYSTEM);
    attr.nic = NULL;
    OK(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), 1, &count));
    CHECK_UEQ(count, 1);
    attr.gpu_device = 2;
    WANT(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), 1, &count), VBN_ERR_NOT_FOUND);
    attr.gpu_device = 1;
    sim.pci(1, "0000:14:00.0");
    WANT(vbn_nic_nearest(&attr, nics, sizeof(nics[0]), 1, &count), VBN_ERR_NOT_FOUND);
    WANT_TEXT("0000:14:00.0");
    tree_close(&tree);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"p5", p5},
        {"p4d", p4d},
        {"ndv5", ndv5},
        {"mi300x", mi300x},
        {"dgx", dgx},
        {"two_sockets", two_sockets},
        {"virtual_machine", virtual_machine},
        {"switches", switches},
        {"recorded_gpus", recorded_gpus},
        {"recorded", recorded},
        {"no_pci", no_pci},
        {"ways_to_ask", ways_to_ask},
        {"by_ordinal", by_ordinal},
        {NULL, NULL},
    };

    null_start();
    return test_main("null_topology", tests, argc, argv);
}
