/**
 * iSER (RFC 7145) as a transport under the iSCSI core: {@link lunar.iser.IserTransportProvider}, found by
 * {@link java.util.ServiceLoader} for the scheme {@code iser}. Initiator and target are the same as over TCP; RDMA
 * moves the data of commands between the memory of both ends.
 *
 * <p>{@link lunar.iser.DeviceChoice} chooses the device of {@code lunar.rdma} that reaches an address;
 * {@link lunar.iser.DeviceLoops} has the event loops over it, each with an event channel and completion queues of its
 * own ({@link lunar.iser.IserSource}).
 *
 * <p><b>Threads.</b> As with every transport: any thread sends, and a connection's events are handled by its loop.
 */
@NullMarked
package lunar.iser;

import org.jspecify.annotations.NullMarked;
