/** Functions of libc and the shape of native structs, shared by the providers; not exported. */
@NullMarked
package lunar.rdma.posix;

import org.jspecify.annotations.NullMarked;
