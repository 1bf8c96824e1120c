/**
 * Service provider interface of transports. {@link lunar.iscsi.spi.TransportProvider} is found by
 * {@link java.util.ServiceLoader}; TCP, plain and with TLS, is in lunar-tcp; iSER and the simulated network implement
 * it too.
 *
 * <p>Threading: every transport belongs to one {@link lunar.iscsi.spi.EventLoop} for its whole life, and its
 * {@link lunar.iscsi.framing.PduReceiver} is called by that loop's thread only. Sending is allowed from any thread.
 */
@NullMarked
package lunar.iscsi.spi;

import org.jspecify.annotations.NullMarked;
