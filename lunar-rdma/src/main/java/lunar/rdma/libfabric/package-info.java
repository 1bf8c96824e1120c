/**
 * Provider of devices of libfabric, version 1.17 or later, through {@code java.lang.foreign}; not exported.
 *
 * <p>libfabric's data path functions are inline functions of its headers, which call through tables in the structs of
 * its objects: {@link lunar.rdma.libfabric.Calls} does that, with the offsets of {@link lunar.rdma.libfabric.Layouts}.
 * Objects are plain native addresses here, of type {@code long}; {@link lunar.rdma.libfabric.Fid} has what is common to
 * them.
 *
 * <p>No function is linked as a critical one, since it may wait for a lock that a killed peer has left held: in a
 * critical function, the waiting thread would stop the garbage collector.
 */
@NullMarked
package lunar.rdma.libfabric;

import org.jspecify.annotations.NullMarked;
