/**
 * Measurement of an RDMA device: {@link lunar.rdma.probe.Probe} measures round-trip times and bandwidth with a peer
 * that runs a {@link lunar.rdma.probe.Responder}, for each {@link lunar.rdma.probe.Variant} of moving messages between
 * the Java heap and registered memory. Both ends poll their completion queues, and sleep after about a millisecond
 * without a completion.
 *
 * <pre>{@code
 * try (ProtectionDomain domain = Rdma.device("libfabric:shm").open();
 *         var responder = new Responder(domain, new InetSocketAddress("127.0.0.1", 0))) {
 *     var probe = new Probe(domain, responder.address());
 *     long nanos = probe.roundTrips(Variant.ZERO_COPY, 4, 1_000, 10_000, _ -> {});
 * }
 * }</pre>
 */
@NullMarked
package lunar.rdma.probe;

import org.jspecify.annotations.NullMarked;
