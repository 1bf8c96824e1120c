/**
 * Bindings of libibverbs and librdmacm through {@code java.lang.foreign}. {@link lunar.rdma.verbs.NativeLibrary} finds
 * functions; {@code *Layouts} and {@link lunar.rdma.verbs.Constants} describe the C headers of rdma-core, which a test
 * compares with a C program; {@link lunar.rdma.verbs.VerbsCalls} and {@link lunar.rdma.verbs.CmCalls} are the functions
 * off the data path, {@link lunar.rdma.verbs.DataPath} those on it. Native objects are known by their addresses.
 */
@NullMarked
package lunar.rdma.verbs;

import org.jspecify.annotations.NullMarked;
