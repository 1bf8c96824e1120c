/**
 * The provider of verbs devices: libibverbs and librdmacm through {@code java.lang.foreign}. Not for use outside of the
 * module; {@link lunar.rdma.verbs.VerbsProvider} is what {@link lunar.rdma.Rdma} finds.
 *
 * <p>From below: {@link lunar.rdma.verbs.NativeLibrary} links functions; {@code *Layouts} and
 * {@link lunar.rdma.verbs.Constants} describe the C headers of rdma-core, which a test compares with a C program;
 * {@link lunar.rdma.verbs.VerbsCalls} and {@link lunar.rdma.verbs.CmCalls} are the functions off the data path,
 * {@link lunar.rdma.verbs.DataPath} those on it; {@code Verbs*} implement the interfaces of {@link lunar.rdma.spi}.
 * Native objects are known by their addresses.
 *
 * <p>Threads: as {@link lunar.rdma.spi} says. Events of connections are copied and acknowledged before they are
 * handled, so that a handler can close anything.
 */
@NullMarked
package lunar.rdma.verbs;

import org.jspecify.annotations.NullMarked;
