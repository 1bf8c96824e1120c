package lunar.it;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.iscsi.spi.TlsFiles;
import lunar.scsi.Lun;
import lunar.store.MemoryDevice;
import lunar.target.PortalSpec;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.AfterEach;

/** Runs the block device contract on a LUN over a transport, with initiator and target in this process. */
abstract class TransportLunContract extends BlockDeviceContract {
    private static final String TARGET = "iqn.2026-11.org.lunar:contract";

    private final String scheme;
    private final List<TargetServer> servers = new ArrayList<>();
    private final Initiator initiator = Initiator.create("iqn.2026-11.org.lunar:transports");
    private int port;

    /** @param scheme of the transport */
    TransportLunContract(String scheme) {
        this.scheme = scheme;
    }

    /** Returns the portal's files of TLS, for a transport that has it. */
    TlsFiles tlsOfServer() {
        return TlsFiles.NONE;
    }

    /** Returns the initiator's files of TLS, for a transport that has it. */
    TlsFiles tlsOfInitiator() {
        return TlsFiles.NONE;
    }

    @Override
    protected BlockDevice create(long blockCount) throws Exception {
        var server = TargetServer.builder()
                .portal(PortalSpec
                        .of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .withTransport(scheme).withTls(tlsOfServer()))
                .target(TargetSpec.of(TARGET).withLun(0,
                        MemoryDevice.create(blockCount * 512, 512)))
                .start();
        servers.add(server);
        port = server.portals().getFirst().getPort();
        return open();
    }

    private BlockDevice open() throws Exception {
        return MultipathDevice.open(initiator, MultipathOptions.of(
                List.of(SessionOptions.of("127.0.0.1", port, TARGET).withTransport(scheme)
                        .withTls(tlsOfInitiator())),
                Lun.ZERO));
    }

    @Override
    protected Optional<BlockDevice> reopen(BlockDevice device) throws Exception {
        device.close();
        return Optional.of(open());
    }

    @AfterEach
    void stop() {
        initiator.close();
        servers.forEach(TargetServer::close);
    }
}
