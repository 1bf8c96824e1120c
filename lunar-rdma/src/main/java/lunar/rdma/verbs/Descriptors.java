package lunar.rdma.verbs;

import lunar.rdma.ProviderException;

/** Settings of file descriptors. */
final class Descriptors {
    private static final NativeFunction FCNTL = NativeLibrary.libc().function("fcntl");

    private Descriptors() {}

    /** Sets O_NONBLOCK by fcntl(2), whose last argument is variadic, but in a register like any other. */
    static void setNonBlocking(int descriptor) throws ProviderException {
        int flags = FCNTL.value(descriptor, Constants.F_GETFL);
        int _ = FCNTL.value(descriptor, Constants.F_SETFL, flags | Constants.O_NONBLOCK);
    }
}
