/**
 * RDMA from Java: endpoints with send and receive queues, registered memory, RDMA read and write, completion queues.
 * The model is that of the Virtual Interface Architecture and of InfiniBand verbs; native libraries are behind
 * {@link lunar.rdma.spi} and never seen here.
 *
 * <p>{@link lunar.rdma.Rdma} lists the devices. {@link lunar.rdma.RdmaDevice#open} gives a
 * {@link lunar.rdma.ProtectionDomain}, which registers memory ({@link lunar.rdma.MemoryRegion},
 * {@link lunar.rdma.MemoryPool}) and opens an {@link lunar.rdma.EventChannel}. The channel listens and makes
 * {@linkplain lunar.rdma.Endpoint endpoints}, whose operations are described by a {@link lunar.rdma.WorkRequest} and
 * reported by a {@link lunar.rdma.CompletionQueue}.
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
 *         channel.await(0); // connection events; returns when there are completions, too
 *         for (int i = 0, n = queue.poll(batch); i < n; i++) {
 *             handle(batch.get(i));
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> A channel, its completion queues and the closing of its endpoints and listeners belong to one
 * thread at a time, as a rule that of an event loop. Any thread may post work requests, wake the channel up, and
 * register memory.
 *
 * <p><b>Ownership.</b> What is opened is closed by the opener, in reverse order: endpoints, listeners and completion
 * queues, channel, memory, protection domain. Memory is not freed, deregistered or handed out again while an operation
 * that uses it is posted.
 *
 * <p><b>Errors.</b> Failures of calls are {@link lunar.rdma.RdmaException}s; failures of operations are reported as
 * {@link lunar.rdma.CompletionStatus} of their completion, and leave the endpoint in state
 * {@link lunar.rdma.EndpointState#ERROR}.
 */
@NullMarked
package lunar.rdma;

import org.jspecify.annotations.NullMarked;
