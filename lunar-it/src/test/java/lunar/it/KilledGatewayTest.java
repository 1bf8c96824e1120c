package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.target.PortalSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a gateway with a state directory that is killed with a write on its way to its member, and started again. After
 * a later write is acknowledged, the network delivers the old one: the block must keep the later one.
 */
@Timeout(300)
class KilledGatewayTest {
    private static final String IQN = "iqn.2026-11.org.lunar:gateway";
    private static final int BLOCK = 512;

    @TempDir
    Path folder;

    private ServeProcess serve(String member)
            throws IOException { return new ServeProcess(folder, """
                    portals = ["127.0.0.1:0"]
                    state = "%s"
                    iqn = "%s"
                    luns = ["%s"]
                    """.formatted(folder.resolve("state"), IQN, member), 1); }

    private static String member(int port, String options) {
        return "iscsi://127.0.0.1:" + port + "/" + ServedTarget.NAME + "/0" + options;
    }

    private static MemorySegment block(int content) {
        return MemorySegment.ofArray(new byte[BLOCK]).fill((byte) content);
    }

    private static byte read(BlockDevice device) throws IOException {
        MemorySegment data = block(0);
        device.read(0, data);
        return data.get(ValueLayout.JAVA_BYTE, 0);
    }

    private static BlockDevice through(ServeProcess gateway) throws IOException {
        return Devices.open(gateway.url(0, IQN, 0) + "?no-path-retry=fail");
    }

    /** Kills a gateway whose proxy holds a write of 2; block 0 is 1. */
    private static void killWithAWrite(ServeProcess gateway, FreezeProxy proxy, BlockDevice at)
            throws Exception {
        try (BlockDevice disk = through(gateway)) {
            disk.write(0, block(1));
            proxy.freeze();
            disk.submit(new BlockRequest().asWrite(0, 1, block(2), false)
                    .onCompletion((_, _) -> {}));
            ServedTarget.await("the write on its way", () -> proxy.heldToTarget() > BLOCK);
            gateway.kill();
        }
        assertThat(read(at)).isEqualTo((byte) 1);
    }

    /** Writes 3 through the new gateway, and then has the proxy deliver the old write. */
    private static void writeAndThaw(ServeProcess gateway, FreezeProxy proxy, ServedTarget target)
            throws Exception {
        try (BlockDevice disk = through(gateway)) {
            disk.write(0, block(3));
            disk.flush();
            assertThat(proxy.heldToTarget()).as("the old write is on its way").isGreaterThan(BLOCK);
            proxy.thaw();
            ServedTarget.await("delivery", () -> proxy.heldToTarget() == 0);
            // The end of the old connection, which follows the old write, ends the old session at the latest.
            ServedTarget.await("one session", () -> target.server().sessionCount() == 1);
            assertThat(read(target.device(0))).isEqualTo((byte) 3);
            assertThat(read(disk)).isEqualTo((byte) 3);
        }
    }

    @Test
    void shouldNotUndoALaterWrite() throws Exception {
        try (var target = ServedTarget.of("ram:16MiB");
                var proxy = new FreezeProxy(target.server().portals().getFirst().getPort())) {
            try (var gateway = serve(member(proxy.port(), ""))) {
                killWithAWrite(gateway, proxy, target.device(0));
            }
            proxy.freezeOpen();
            try (var gateway = serve(member(proxy.port(), ""))) {
                writeAndThaw(gateway, proxy, target);
            }
        }
    }

    /** The portal of the old session does not answer, and the new gateway has a path in another portal group only. */
    @Test
    void shouldNotUndoALaterWriteOfAnotherPortalGroup() throws Exception {
        try (var target = ServedTarget.of(UnaryOperator.identity(),
                server -> server.portal(
                        PortalSpec.of(new InetSocketAddress("127.0.0.1", 0)).withGroup(2)),
                "ram:16MiB");
                var proxy = new FreezeProxy(target.server().portals().getFirst().getPort())) {
            try (var gateway = serve(member(proxy.port(), "?sessions=3&policy=fixed"))) {
                ServedTarget.await("three paths", () -> target.server().sessionCount() == 3);
                killWithAWrite(gateway, proxy, target.device(0));
            }
            try (var gateway = serve(
                    member(target.server().portals().getLast().getPort(), ""))) {
                writeAndThaw(gateway, proxy, target);
            }
        }
    }
}
