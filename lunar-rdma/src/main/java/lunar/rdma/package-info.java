/**
 * RDMA for Java: endpoints with send and receive queues, registered memory, RDMA read and write, completion queues. The
 * model is that of the Virtual Interface Architecture and of InfiniBand verbs; native libraries are hidden behind
 * {@link lunar.rdma.spi}.
 *
 * <p>{@link lunar.rdma.Rdma} lists the devices. {@link lunar.rdma.RdmaDevice#open} opens a
 * {@link lunar.rdma.ProtectionDomain}, which registers memory ({@link lunar.rdma.MemoryRegion},
 * {@link lunar.rdma.MemoryPool}) and opens an {@link lunar.rdma.EventChannel}. The channel listens and creates
 * {@linkplain lunar.rdma.Endpoint endpoints}. A {@link lunar.rdma.WorkRequest} describes an operation that is posted to
 * an endpoint, and a {@link lunar.rdma.CompletionQueue} reports its completion.
 *
 * <pre>{@code
 * try (ProtectionDomain domain = Rdma.device("libfabric:tcp").open();
 *         EventChannel channel = domain.openChannel();
 *         CompletionQueue queue = channel.createCompletionQueue(64);
 *         MemoryPool pool = domain.createPool(8, 4096, Access.LOCAL)) {
 *     Endpoint endpoint = channel.createEndpoint(EndpointOptions.of(queue), handler);
 *     var request = new WorkRequest();
 *     endpoint.post(request.receive().add(pool.take()).attachment("reply"));
 *     endpoint.connect(new InetSocketAddress("127.0.0.1", 3260), privateData);
 *     var batch = new Completions(16);
 *     while (running) {
 *         channel.await(0); // handles connection events; also returns when there are completions
 *         for (int i = 0, n = queue.poll(batch); i < n; i++) {
 *             handle(batch.get(i));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> A channel and its completion queues are used by one thread at a time, usually that of an event
 * loop, which also closes the channel's endpoints and listeners. Any thread may post work requests, wake up the
 * channel, and register memory.
 *
 * <p><b>Ownership.</b> The caller closes what it has opened, in reverse order: endpoints, listeners and completion
 * queues, channel, memory, protection domain. Memory cannot be freed, deregistered or taken from a pool again while a
 * posted operation uses it.
 *
 * <p><b>Errors.</b> A call that fails throws an {@link lunar.rdma.RdmaException}. An operation that fails is reported
 * by the {@link lunar.rdma.CompletionStatus} of its completion, and leaves the endpoint in state
 * {@link lunar.rdma.EndpointState#ERROR}.
 */
@NullMarked
package lunar.rdma;

import org.jspecify.annotations.NullMarked;
