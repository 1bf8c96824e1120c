package lunar.bench.load;

import lunar.bench.harness.BenchException;
import lunar.bench.harness.InParallel;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.bench.harness.Pair.Terms;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.InitiatorOptions;
import lunar.initiator.IscsiUri;
import lunar.initiator.Session;
import lunar.initiator.SessionOptions;
import lunar.scsi.Lun;

/**
 * Opens the LUN of an order with Lunar's initiator: by its URI for a single session, like users do; several sessions
 * share the event loops of one initiator.
 */
final class LoadLuns {
    /** By their RDMA device. */
    private final Map<Optional<String>, Initiator> initiators = new HashMap<>();

    /** Sessions with a device each; closes them. */
    record Open(List<BlockDevice> devices, List<Session> sessions) implements AutoCloseable {
        @Override
        public void close() throws StorageException {
            for (Session session : sessions) {
                session.close();
            }
            if (sessions.isEmpty()) {
                for (BlockDevice device : devices) {
                    device.close();
                }
            }
        }
    }

    Open open(LoadOrder order) throws BenchException, IOException, InterruptedException {
        if (order.sessions() == 1 && order.terms() == Terms.USUAL) {
            return new Open(List.of(Devices.open(order.uri())), List.of());
        }
        IscsiUri uri = IscsiUri.parse(order.uri());
        SessionOptions login = uri.sessionOptions().withOffer(order.terms().offer());
        Initiator initiator = initiator(uri.rdmaProvider());
        List<Session> sessions = InParallel.run(order.sessions(), _ -> initiator.login(login));
        var devices = new ArrayList<BlockDevice>();
        for (Session session : sessions) {
            devices.add(session.open(uri.lun().orElse(Lun.of(0))));
        }
        return new Open(devices, sessions);
    }

    private Initiator initiator(Optional<String> device) throws IOException {
        Initiator initiator = initiators.get(device);
        if (initiator == null) {
            initiator = Initiator.create(InitiatorOptions.of("iqn.2026-11.org.lunar:bench-client")
                    .withLoopCount(Runtime.getRuntime().availableProcessors())
                    .withRdmaDevice(device));
            initiators.put(device, initiator);
        }
        return initiator;
    }

    /** A session of its own. */
    Session login(String uri) throws IOException {
        IscsiUri parsed = IscsiUri.parse(uri);
        return initiator(parsed.rdmaProvider()).login(parsed.sessionOptions());
    }
}
