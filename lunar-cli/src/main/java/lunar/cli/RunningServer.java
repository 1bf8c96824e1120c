package lunar.cli;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.StorageException;
import lunar.iscsi.ChapAlgorithm;
import lunar.iscsi.ChapCredentials;
import lunar.iscsi.ChapPolicy;
import lunar.iscsi.Secret;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.target.unit.StateStore;
import lunar.target.unit.UnitSpec;

/** A plan at work: a server and its devices. Closing ends sessions, makes all stable and closes the devices. */
final class RunningServer implements AutoCloseable {
    /** Name of a target that is given none. */
    static final String DEFAULT_IQN = "iqn.2026-11.org.lunar:disk";

    /** A LUN that is served. */
    record Served(String iqn, int lun, String uri, long sizeBytes) {}

    /** What hosts have to log out when the server stops. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final TargetServer server;
    private final OpenDevices devices;
    private final List<Served> luns;
    private boolean closed;

    private RunningServer(TargetServer server, OpenDevices devices, List<Served> luns) {
        this.server = server;
        this.devices = devices;
        this.luns = List.copyOf(luns);
    }

    static RunningServer start(ServePlan plan, Console console) throws IOException, Failure {
        var addresses = new ArrayList<InetSocketAddress>();
        for (Portal portal : plan.portals()) {
            addresses.add(portal.resolve());
        }
        requireAuthentication(plan, addresses);
        var builder = TargetServer.builder().offer(TargetServer.DEFAULT_OFFER.with(offer -> offer
                .headerDigest(plan.headerDigest().choice())
                .dataDigest(plan.dataDigest().choice())));
        addresses.forEach(builder::portal);
        var devices = new OpenDevices();
        try {
            var luns = new ArrayList<Served>();
            var users = new LinkedHashMap<String, Secret>();
            for (ServePlan.Target target : plan.targets()) {
                builder.target(spec(target, plan, devices, luns, users,
                        new Credentials(console)));
            }
            if (!users.isEmpty() && !isLoopback(addresses)) {
                builder.discoveryChap(policy(users, Optional.empty()));
            }
            return new RunningServer(listen(builder, plan), devices, luns);
        } catch (IOException | Failure | RuntimeException e) {
            devices.close();
            throw e;
        }
    }

    private static void requireAuthentication(ServePlan plan, List<InetSocketAddress> addresses)
            throws Failure {
        boolean open = plan.targets().stream().anyMatch(target -> target.chap().isEmpty());
        if (open && !plan.allowAnonymous() && !isLoopback(addresses)) {
            throw new Failure("other machines can reach this portal: ask for a secret with"
                    + " --chap USER:@FILE, or let everybody in with --allow-anonymous");
        }
    }

    private static boolean isLoopback(List<InetSocketAddress> addresses) {
        return addresses.stream().allMatch(address -> address.getAddress().isLoopbackAddress());
    }

    private static TargetSpec spec(ServePlan.Target target, ServePlan plan,
            OpenDevices devices, List<Served> luns, Map<String, Secret> users,
            Credentials credentials)
            throws IOException, Failure {
        TargetSpec spec = TargetSpec.of(target.iqn()).withAlias(target.alias());
        if (target.chap().isEmpty() && target.mutualChap().isPresent()) {
            throw new Failure("target " + target.iqn() + " has mutual-chap without chap:"
                    + " the initiator proves itself first; add chap");
        }
        if (target.chap().isPresent()) {
            ChapCredentials user = credentials.read("--chap", target.chap().get());
            users.put(user.name(), user.secret());
            Optional<ChapCredentials> own = Optional.empty();
            if (target.mutualChap().isPresent()) {
                own = Optional.of(credentials.read("--mutual-chap", target.mutualChap().get()));
                if (own.get().secret().equals(user.secret())) {
                    throw new Failure("--chap and --mutual-chap have the same secret, which"
                            + " RFC 7143 forbids; write another one into one of the files");
                }
            }
            spec = spec.withChap(policy(Map.of(user.name(), user.secret()), own));
        }
        int lun = 0;
        for (ServePlan.Lun planned : target.luns()) {
            BlockDevice device = devices.open(planned.uri());
            luns.add(new Served(target.iqn(), lun, planned.uri(), device.sizeBytes()));
            spec = spec.withLun(lun++, unit(planned, device, plan.state()));
        }
        return spec;
    }

    /** State goes by the device's identity, so that it follows the device to another LUN. */
    private static UnitSpec unit(ServePlan.Lun planned, BlockDevice device, Optional<Path> state)
            throws IOException {
        UnitSpec unit = UnitSpec.of(device).withRemovable(planned.removable())
                .withRotational(planned.rotational()).withReadOnly(planned.readOnly())
                .withThick(planned.thick());
        return state.isEmpty()
                ? unit
                : unit.withState(StateStore.inDirectory(
                        state.get().resolve(device.identity().uuid().toString())));
    }

    private static ChapPolicy policy(Map<String, Secret> users, Optional<ChapCredentials> own) {
        Map<String, Secret> known = Map.copyOf(users);
        return new ChapPolicy(List.of(ChapAlgorithm.values()),
                name -> Optional.ofNullable(known.get(name)), own);
    }

    private static TargetServer listen(TargetServer.Builder builder, ServePlan plan)
            throws IOException, Failure {
        try {
            return builder.start();
        } catch (BindException e) {
            throw new Failure("cannot listen on "
                    + String.join(", ", plan.portals().stream().map(Portal::toString).toList())
                    + ": " + String.valueOf(e.getMessage()).toLowerCase(java.util.Locale.ROOT)
                    + "; choose another with --portal HOST:PORT, where port 0 is a free one", e);
        }
    }

    List<InetSocketAddress> portals() { return server.portals(); }

    List<Served> luns() { return luns; }

    /** Sessions logged in now. */
    int sessionCount() { return server.sessionCount(); }

    /** Memory lent to commands now. */
    long bufferBytesInUse() { return server.bufferBytesInUse(); }

    @Override
    public synchronized void close() throws StorageException {
        if (closed) {
            return;
        }
        closed = true;
        server.shutDown(GRACE);
        try (devices) {
            devices.flush();
        }
    }
}
