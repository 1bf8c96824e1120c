/*
 * Round trips and bandwidth over libfabric in plain C: the loop of lunar.rdma.probe, for comparison. One connection.
 *     javia PROVIDER serve echo|stream BYTES            prints the port that it listens on, serves one client, ends
 *     javia PROVIDER run echo|stream BYTES PORT WARMUP COUNT   prints the nanoseconds of COUNT messages
 * PROVIDER is tcp (endpoints of type FI_EP_MSG) or shm (FI_EP_RDM; addresses are exchanged over a socket). Both ends
 * are on this machine; they poll, and after SPINS polls without a completion sleep. "echo" sends each message back; "stream" sends one byte for each BATCH messages.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

enum { DEPTH = 16, BATCH = 8, NAME = 256, SPINS = 20000, SLEEP_MS = 100 };

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *events;
static struct fid_cq *completions;
static struct fid_av *vector;
static struct fid_ep *endpoint;
static struct fid_mr *region;
static fi_addr_t peer = FI_ADDR_UNSPEC;
static char *memory; /* DEPTH buffers for receives, one for sends */
static size_t bytes;
static int in_flight;
static long received;
static char send_context, receive_contexts[DEPTH];

static void check(const char *what, long result)
{
    if (result < 0) {
        fprintf(stderr, "javia: %s: %s\n", what, fi_strerror((int)-result));
        exit(1);
    }
}

static char *buffer(int number) { return memory + (size_t)number * ((bytes + 4095) & ~(size_t)4095); }

static struct fi_info *query(const char *provider, const char *port, uint64_t flags)
{
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    int is_tcp = strcmp(provider, "tcp") == 0;
    hints->caps = FI_MSG | FI_RMA;
    hints->addr_format = is_tcp ? FI_SOCKADDR_IN : FI_FORMAT_UNSPEC;
    hints->ep_attr->type = is_tcp ? FI_EP_MSG : FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED;
    hints->tx_attr->size = hints->rx_attr->size = 256;
    check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), is_tcp ? "127.0.0.1" : NULL, is_tcp ? port : NULL,
        is_tcp ? flags : 0, hints, &found));
    fi_freeinfo(hints);
    return found;
}

static void open_domain(struct fi_info *with)
{
    struct fi_cq_attr attributes = {.size = 2 * DEPTH, .format = FI_CQ_FORMAT_MSG};
    size_t length = (DEPTH + 1) * ((bytes + 4095) & ~(size_t)4095);
    /* A queue that a program can sleep at, as Lunar's: with tcp that costs system calls. shm has none. */
    attributes.wait_obj = with->ep_attr->type == FI_EP_RDM ? FI_WAIT_NONE : FI_WAIT_FD;
    check("fi_domain", fi_domain(fabric, with, &domain, NULL));
    check("fi_cq_open", fi_cq_open(domain, &attributes, &completions, NULL));
    memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, length);
    check("fi_mr_reg", fi_mr_reg(domain, memory, length, FI_SEND | FI_RECV, 0, 1, 0, &region, NULL));
    check("fi_endpoint", fi_endpoint(domain, with, &endpoint, NULL));
    check("fi_ep_bind", fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV));
}

static void post_receive(int number)
{
    long result;
    do
        result = fi_recv(endpoint, buffer(number), bytes, fi_mr_desc(region), FI_ADDR_UNSPEC, &receive_contexts[number]);
    while (result == -FI_EAGAIN);
    check("fi_recv", result);
}

static void post_receives(void)
{
    for (int i = 0; i < DEPTH; i++)
        post_receive(i);
}

/* Returns 0 once the peer has gone. */
static int poll_completions(void)
{
    static int empty;
    struct fi_cq_msg_entry entries[DEPTH];
    long count = fi_cq_read(completions, entries, DEPTH);
    if (count == -FI_EAGAIN && ++empty >= SPINS && vector == NULL)
        count = fi_cq_sread(completions, entries, DEPTH, NULL, SLEEP_MS);
    if (count == -FI_EAGAIN)
        return 1;
    empty = 0;
    if (count < 0)
        return 0;
    for (long i = 0; i < count; i++) {
        if (entries[i].op_context == &send_context) {
            in_flight--;
        } else {
            received++;
            post_receive((int)((char *)entries[i].op_context - receive_contexts));
        }
    }
    return 1;
}

static int send_message(size_t length)
{
    long result;
    while (in_flight == DEPTH)
        if (!poll_completions())
            return 0;
    while ((result = fi_send(endpoint, buffer(DEPTH), length, fi_mr_desc(region), peer, &send_context)) == -FI_EAGAIN)
        if (!poll_completions())
            return 0;
    in_flight++;
    return result == 0;
}

static uint32_t await_event(struct fi_eq_cm_entry *entry, size_t length)
{
    uint32_t event = 0;
    check("fi_eq_sread", fi_eq_sread(events, &event, entry, length, -1, 0));
    return event;
}

static void open_events(void)
{
    struct fi_eq_attr attributes = {.wait_obj = FI_WAIT_UNSPEC};
    check("fi_eq_open", fi_eq_open(fabric, &attributes, &events, NULL));
}

static void tcp_accept(void)
{
    struct fid_pep *listener;
    struct fi_eq_cm_entry entry;
    struct sockaddr_in name;
    size_t length = sizeof name;
    info = query("tcp", "0", FI_SOURCE | FI_NUMERICHOST);
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    open_events();
    check("fi_passive_ep", fi_passive_ep(fabric, info, &listener, NULL));
    check("fi_pep_bind", fi_pep_bind(listener, &events->fid, 0));
    check("fi_listen", fi_listen(listener));
    check("fi_getname", fi_getname(&listener->fid, &name, &length));
    printf("%d\n", ntohs(name.sin_port));
    fflush(stdout);
    await_event(&entry, sizeof entry);
    open_domain(entry.info);
    check("fi_ep_bind", fi_ep_bind(endpoint, &events->fid, 0));
    check("fi_enable", fi_enable(endpoint));
    post_receives();
    check("fi_accept", fi_accept(endpoint, NULL, 0));
    await_event(&entry, sizeof entry);
}

static void tcp_connect(const char *port)
{
    struct fi_eq_cm_entry entry;
    info = query("tcp", port, FI_NUMERICHOST);
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    open_events();
    open_domain(info);
    check("fi_ep_bind", fi_ep_bind(endpoint, &events->fid, 0));
    check("fi_enable", fi_enable(endpoint));
    post_receives();
    check("fi_connect", fi_connect(endpoint, info->dest_addr, NULL, 0));
    await_event(&entry, sizeof entry);
}

static void transfer(int socket, char *name, int is_write)
{
    for (ssize_t at = 0, count; at < NAME; at += count) {
        count = is_write ? write(socket, name + at, (size_t)(NAME - at)) : read(socket, name + at, (size_t)(NAME - at));
        if (count <= 0) {
            fprintf(stderr, "javia: the peer has gone\n");
            exit(1);
        }
    }
}

/* Opens an endpoint, and tells it and the peer of each other over a socket. Returns the socket. */
static int shm_connect(int port)
{
    struct fi_av_attr attributes = {.type = FI_AV_TABLE};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof at;
    size_t name_length = NAME;
    char name[NAME] = "", other[NAME];
    int s = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    info = query("shm", NULL, 0);
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    open_domain(info);
    check("fi_av_open", fi_av_open(domain, &attributes, &vector, NULL));
    check("fi_ep_bind", fi_ep_bind(endpoint, &vector->fid, 0));
    check("fi_enable", fi_enable(endpoint));
    check("fi_getname", fi_getname(&endpoint->fid, name, &name_length));
    post_receives();
    if (port == 0) {
        int listener = s;
        if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1)
            || getsockname(listener, (struct sockaddr *)&at, &length)) {
            perror("javia: socket");
            exit(1);
        }
        printf("%d\n", ntohs(at.sin_port));
        fflush(stdout);
        s = accept(listener, NULL, NULL);
    } else if (connect(s, (struct sockaddr *)&at, sizeof at)) {
        perror("javia: connect");
        exit(1);
    }
    transfer(s, name, 1);
    transfer(s, other, 0);
    if (fi_av_insert(vector, other, 1, &peer, 0, NULL) != 1) {
        fprintf(stderr, "javia: fi_av_insert\n");
        exit(1);
    }
    return s;
}

static int has_ended(int socket)
{
    char byte;
    return socket >= 0 && recv(socket, &byte, 1, MSG_DONTWAIT) == 0;
}

static void serve(int is_echo, int socket)
{
    long answered = 0, due;
    for (unsigned turn = 1; turn % 65536 != 0 || !has_ended(socket); turn++) {
        if (!poll_completions())
            return;
        due = is_echo ? received : received / BATCH;
        for (; answered < due; answered++)
            if (!send_message(is_echo ? bytes : 1))
                return;
    }
}

static void need(int is_connected)
{
    if (!is_connected) {
        fprintf(stderr, "javia: the peer has gone\n");
        exit(1);
    }
}

static void run(int is_echo, long count)
{
    long before = received;
    if (is_echo) {
        for (long i = 0; i < count; i++) {
            need(send_message(bytes));
            while (received - before <= i)
                need(poll_completions());
        }
        return;
    }
    for (long sent = 0; sent < count / BATCH; sent++) {
        while (sent - (received - before) >= DEPTH / BATCH)
            need(poll_completions());
        for (int i = 0; i < BATCH; i++)
            need(send_message(bytes));
    }
    while (received - before < count / BATCH)
        need(poll_completions());
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int count, char **words)
{
    int is_server = count == 5 && strcmp(words[2], "serve") == 0, is_tcp, is_echo, socket = -1;
    if (!is_server && (count != 8 || strcmp(words[2], "run") != 0)) {
        fprintf(stderr, "usage: javia tcp|shm serve|run echo|stream BYTES [PORT WARMUP COUNT]\n");
        return 2;
    }
    is_tcp = strcmp(words[1], "tcp") == 0;
    is_echo = strcmp(words[3], "echo") == 0;
    bytes = (size_t)atol(words[4]);
    if (!is_tcp)
        socket = shm_connect(is_server ? 0 : atoi(words[5]));
    else if (is_server)
        tcp_accept();
    else
        tcp_connect(words[5]);
    if (is_server) {
        serve(is_echo, socket);
    } else {
        int64_t start;
        run(is_echo, atol(words[6]));
        start = now();
        run(is_echo, atol(words[7]));
        printf("%lld\n", (long long)(now() - start));
    }
    fi_close(&endpoint->fid);
    return 0;
}
