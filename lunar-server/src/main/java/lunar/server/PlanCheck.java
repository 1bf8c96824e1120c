package lunar.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.iscsi.login.ChapPolicy;
import lunar.target.InitiatorSpec;
import lunar.target.PortalSpec;
import lunar.target.TargetSpec;

/**
 * Checks a plan without opening its devices or listening: names, secret files, and whether other machines could use a
 * target without authentication. Each method checks a part, so that all errors of a plan can be found. Not thread-safe.
 */
public final class PlanCheck {
    private static final Set<String> FILES = Set.of("file", "disk");

    private final ServerPlan plan;
    private final ServerListener listener;
    private final List<PortalSpec> portals;
    private final ChapPolicies policies;
    private final Map<DeviceKey, ServerPlan.Lun> units = new HashMap<>();
    private final Map<Path, DeviceKey> files = new HashMap<>();

    /**
     * Creates a check, which resolves the names of the portals.
     *
     * @param listener is warned of secrets that are short, of secrets and keys that others can read, and of
     *        certificates that expire
     * @throws InvalidPlanException if the host of a portal is unknown; the message is one line
     */
    public PlanCheck(ServerPlan plan, ServerListener listener) throws InvalidPlanException {
        this(plan, PortalAddresses.NONE.of(plan), listener);
    }

    /** Creates a check that resolves no names. */
    PlanCheck(ServerPlan plan, PortalAddresses addresses, ServerListener listener) {
        this.plan = plan;
        this.listener = listener;
        portals = addresses.portals(plan);
        policies = new ChapPolicies(listener);
    }

    /**
     * Checks the certificate, the key and the trusted certificates of a portal with TLS.
     *
     * @throws InvalidPlanException if they cannot be used, or others could have written the key; one line for a person
     */
    public void portal(ServerPlan.Listen portal) throws InvalidPlanException {
        PortalFiles.check(portal, listener);
    }

    /**
     * Checks the name of a target, its secrets, and whether it may be open to everybody who can reach it.
     *
     * @throws InvalidPlanException with one line for a person
     */
    public void target(ServerPlan.Target target) throws InvalidPlanException {
        try {
            TargetSpec _ = TargetSpec.of(target.iqn()).withAlias(target.alias());
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
        Optional<ChapPolicy> _ = policies.of("target " + target.iqn(), target.chap(),
                target.mutualChap(), target.chapAlgorithms(),
                Exposure.isExposed(target, portals));
        Exposure.requireAuthentication(plan, target, portals);
    }

    /**
     * Checks the name and the secrets of an initiator of a target.
     *
     * @throws InvalidPlanException with one line for a person
     */
    public void initiator(ServerPlan.Target target, ServerPlan.Initiator initiator)
            throws InvalidPlanException {
        try {
            InitiatorSpec _ = InitiatorSpec.of(initiator.name());
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
        Optional<ChapPolicy> _ = policies.of(
                "initiator " + initiator.name() + " of target " + target.iqn(), initiator.chap(),
                initiator.mutualChap(), target.chapAlgorithms(),
                Exposure.isExposed(target, portals));
    }

    /**
     * Checks that a device has the same URI and settings at all of its LUNs.
     *
     * @throws InvalidPlanException with one line for a person
     */
    public void unit(ServerPlan.Target target, int number, ServerPlan.Lun lun)
            throws InvalidPlanException {
        DeviceKey key;
        try {
            key = DeviceKey.of(target.iqn(), number, lun.uri());
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
        requireOneUri(lun.uri(), key.withoutSize());
        ServerPlan.Lun first = units.putIfAbsent(key.withoutSize(), lun);
        if (first == null || first.equals(lun)) {
            return;
        }
        Optional<Long> size = DeviceKey.of(target.iqn(), number, first.uri()).sizeBytes();
        if (size.isPresent() && key.sizeBytes().isPresent() && !size.equals(key.sizeBytes())) {
            throw new InvalidPlanException(DeviceUri.withoutSecret(lun.uri())
                    + " is configured with two sizes; specify one");
        }
        throw new InvalidPlanException(DeviceUri.withoutSecret(lun.uri())
                + " is one unit at several LUNs, and must be configured identically at each");
    }

    /** A file is opened once: by two URIs it is in use. */
    private void requireOneUri(String uri, DeviceKey key) throws InvalidPlanException {
        Optional<Path> file = file(uri);
        if (file.isPresent()) {
            DeviceKey known = files.putIfAbsent(file.get(), key);
            if (known != null && !known.equals(key)) {
                throw new InvalidPlanException(DeviceUri.withoutSecret(uri) + " is " + file.get()
                        + ", which is served by another URI already; write the same at each LUN");
            }
        }
    }

    private static Optional<Path> file(String uri) {
        DeviceUri device = DeviceUri.parse(Devices.withoutFilters(uri));
        if (!FILES.contains(device.scheme())) {
            return Optional.empty();
        }
        try {
            Path path = Path.of(device.rest());
            return Optional.of(
                    Files.exists(path) ? path.toRealPath() : path.toAbsolutePath().normalize());
        } catch (IOException | InvalidPathException _) {
            return Optional.empty(); // the check of the device reports it
        }
    }

    /**
     * Checks the URI of a device of any type, as {@link Devices#check} does: its parts and options, and
     * that the files it names exist.
     *
     * @throws InvalidPlanException if the URI is wrong, with one line for a person
     * @throws StorageException if a file that it names cannot be used
     */
    public static void device(String uri) throws InvalidPlanException, StorageException {
        try {
            ServedSource.check(uri);
        } catch (IllegalArgumentException e) {
            throw InvalidPlanException.of(e);
        }
    }

    /**
     * Checks the secrets of discovery, after all targets and initiators.
     *
     * @throws InvalidPlanException with one line for a person
     */
    public void discovery() throws InvalidPlanException {
        Optional<ChapPolicy> _ = policies.discovery(plan.discoveryChap(), plan.chapAlgorithms(),
                !Exposure.isLoopback(portals));
    }
}
