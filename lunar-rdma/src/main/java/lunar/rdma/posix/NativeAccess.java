package lunar.rdma.posix;

/**
 * Whether this module may call native functions. If it may not, the log says so once, when a provider would use them,
 * and names the option of Java that permits it.
 */
public final class NativeAccess {
    private static final System.Logger LOG = System.getLogger("lunar.rdma");

    /** The reason for a caller that needs native functions: one line, which names the option of Java. */
    public static final String MISSING = missing(NativeAccess.class.getModule());

    private static final boolean ENABLED = look();

    private NativeAccess() {}

    /** Whether native functions can be called. */
    public static boolean isEnabled() {
        return ENABLED;
    }

    private static String missing(Module module) {
        return "native access is not enabled: start Java with --enable-native-access="
                + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
    }

    private static boolean look() {
        boolean enabled = NativeAccess.class.getModule().isNativeAccessEnabled();
        if (!enabled) {
            LOG.log(System.Logger.Level.INFO, "RDMA is not available: {0}", MISSING);
        }
        return enabled;
    }
}
