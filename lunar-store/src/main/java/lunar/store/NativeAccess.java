package lunar.store;

/**
 * Whether this module may call native functions. If it may not, the log says so once, when the first file or disk would
 * use them, and names the option of Java that permits it.
 */
final class NativeAccess {
    private static final System.Logger LOG = System.getLogger("lunar.store");
    private static final boolean ENABLED = look();

    private NativeAccess() {}

    /** Whether native functions can be called. */
    static boolean isEnabled() { return ENABLED; }

    private static boolean look() {
        Module module = NativeAccess.class.getModule();
        if (module.isNativeAccessEnabled()) {
            return true;
        }
        LOG.log(System.Logger.Level.INFO, "files and disks are used without io_uring, UNMAP, labels"
                + " and reports of holes: start Java with --enable-native-access={0}",
                module.isNamed() ? module.getName() : "ALL-UNNAMED");
        return false;
    }
}
