package lunar.rdma.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static lunar.rdma.posix.Structs.at;
import static lunar.rdma.posix.Structs.offset;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;

/** Layouts of socket addresses, whose ports and IP addresses are in network byte order. */
public final class AddressLayouts {
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;

    public static final StructLayout INET = Structs.allocated("sockaddr_in", 16, //
            at(0, "sin_family", JAVA_SHORT), //
            at(2, "sin_port", JAVA_SHORT), //
            at(4, "sin_addr", MemoryLayout.sequenceLayout(4, JAVA_BYTE)));
    static final long INET_FAMILY = offset(INET, "sin_family");
    static final long INET_PORT = offset(INET, "sin_port");
    static final long INET_ADDR = offset(INET, "sin_addr");

    public static final StructLayout INET6 = Structs.allocated("sockaddr_in6", 28, //
            at(0, "sin6_family", JAVA_SHORT), //
            at(2, "sin6_port", JAVA_SHORT), //
            at(8, "sin6_addr", MemoryLayout.sequenceLayout(16, JAVA_BYTE)), //
            at(24, "sin6_scope_id", JAVA_INT));
    static final long INET6_ADDR = offset(INET6, "sin6_addr");
    static final long INET6_SCOPE_ID = offset(INET6, "sin6_scope_id");

    private AddressLayouts() {}
}
