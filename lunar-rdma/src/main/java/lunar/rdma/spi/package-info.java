/**
 * Interfaces that a provider of RDMA devices implements, from {@link lunar.rdma.spi.RdmaProvider} to queues and
 * endpoints. {@code lunar.rdma} adds what all devices have in common: limits, endpoint states, bookkeeping of posted
 * operations and of memory in use, connection timeouts, flushing.
 *
 * <p><b>Threads.</b> A {@link lunar.rdma.spi.ProviderChannel}, its listeners, queues and endpoints are used
 * by one thread at a time, with these exceptions, which any thread may call at any time:
 * {@link lunar.rdma.spi.ProviderChannel#wakeup}, {@link lunar.rdma.spi.ProviderEndpoint#post} (never two posts to the
 * same queue at a time, and none during or after {@link lunar.rdma.spi.ProviderEndpoint#abort} and {@code close}),
 * {@link lunar.rdma.spi.ProviderChannel#createEndpoint}, {@link lunar.rdma.spi.ProviderEndpoint#connect}, and the
 * methods of {@link lunar.rdma.spi.ProviderDomain}.
 *
 * <p><b>Ownership.</b> {@code lunar.rdma} closes each object once, after the objects that were created from it.
 *
 * <p>{@link lunar.rdma.spi.ForwardingDevice} is the base of a device that wraps another one, to observe or disturb it.
 */
@NullMarked
package lunar.rdma.spi;

import org.jspecify.annotations.NullMarked;
