package lunar.it;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.iscsi.spi.Polling;
import lunar.store.MemoryDevice;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;
import lunar.testkit.BlockDeviceContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the contract of a block device on a LUN of Lunar's target, with loops that poll and loops that sleep. */
@Timeout(180)
@ParameterizedClass
@ValueSource(strings = {"off", "50us", "auto"})
class LoopbackLunTest extends BlockDeviceContract {
    private static final String TARGET = "iqn.2026-11.org.lunar:contract";

    private final List<TargetServer> servers = new ArrayList<>();
    @Parameter
    private String polling;
    private String uri = "";

    @Override
    protected BlockDevice create(long blockCount) throws Exception {
        var server = TargetServer.builder()
                .portal(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .target(TargetSpec.of(TARGET).withLun(0,
                        MemoryDevice.create(blockCount * 512, 512)))
                .polling(Polling.parse(polling))
                .start();
        servers.add(server);
        uri = "iscsi://127.0.0.1:" + server.portals().getFirst().getPort() + "/" + TARGET
                + "/0?poll="
                + polling;
        return Devices.open(uri);
    }

    @Override
    protected Optional<BlockDevice> reopen(BlockDevice device) throws Exception {
        device.close();
        return Optional.of(Devices.open(uri));
    }

    @AfterEach
    void stop() { servers.forEach(TargetServer::close); }
}
