package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that an iSER peer that violates the protocol causes one log line and does not affect other sessions. */
class IserHostileTest {
    private static final String IQN = "iqn.2026-11.org.lunar:hostile";
    private static final byte[] CONNECT = {(byte) 0xc0, 0, 0, 0};
    private static final byte[] GARBAGE = HexFormat.of().parseHex("3fa55a0ffe".repeat(10));

    /** iSER header of a control message without STags. */
    private static final String HEADER = "10" + "00".repeat(27);
    /** A Login Request whose data segment exceeds the message. */
    private static final String LOGIN = "43870000" + "00000200" + "00".repeat(40);

    @TempDir
    Path folder;

    @BeforeAll
    static void requireDevice() { RdmaDevices.require(); }

    /** First message of a connection, and the reason why the connection ends. */
    private record Attack(byte[] privateData, String message, String why) {}

    private static List<Attack> attacks() {
        return List.of(
                new Attack(CONNECT, "20110010" + "00".repeat(24), "shorter than its headers"),
                new Attack(CONNECT, "30110010" + "00".repeat(72), "in place of a PDU"),
                new Attack(GARBAGE, "f0a5" + "a5".repeat(74), "in place of a PDU"),
                new Attack(GARBAGE, "1000", "shorter than its headers"),
                new Attack(CONNECT, HEADER + LOGIN, "with a PDU of 560"),
                new Attack(GARBAGE, "10".repeat(40_000), "RDMA receive failed"));
    }

    @Test
    void shouldLogOneLineAndServeOthers() throws Exception {
        try (var server = new ServeProcess(folder, """
                portals = [{ listen = "127.0.0.1:0", transport = "iser" }]
                rdma-provider = "%s"
                iqn = "%s"
                luns = ["ram:1MiB"]
                """.formatted(RdmaDevices.NEEDED, IQN), 1)) {
            String portal = server.portal(0);
            int port = Integer.parseInt(portal.substring(portal.lastIndexOf(':') + 1));
            try (BlockDevice device = Devices
                    .open(portal + "/" + IQN + "/0?rdma-provider=" + RdmaDevices.NEEDED)) {
                int before = 0;
                for (Attack attack : attacks()) {
                    try (var peer = new RawIserPeer(port, attack.privateData)) {
                        peer.send(HexFormat.of().parseHex(attack.message));
                        peer.awaitEnd();
                    }
                    int count = before;
                    ServedTarget.await("a line", () -> lines(server).size() > count);
                    device.flush();
                    assertThat(lines(server)).hasSize(before + 1);
                    assertThat(lines(server).getLast()).contains("connection from 127.0.0.1:")
                            .contains(attack.why);
                    before++;
                }
            }
        }
    }

    /** Lines of the log, without those of the audit log. */
    private static List<String> lines(ServeProcess server) {
        try {
            return server.errors().lines().filter(line -> !line.contains(" audit: ")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
